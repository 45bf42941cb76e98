"""What the 1.x API does differently from the 2.x one; `dy2st.fluid` has the names."""
