"""What stands around traced code: context managers, unconverted handlers and calls, and what is printed."""
