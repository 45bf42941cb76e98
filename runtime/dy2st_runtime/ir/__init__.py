"""The intermediate representation: Program, Block, Variable, Operator; builder, printer, verifier, walks."""

from .builder import IRBuilder as IRBuilder
from .printer import show_block as show_block
from .printer import show_program as show_program
from .program import Block as Block
from .program import Operator as Operator
from .program import Program as Program
from .program import Variable as Variable
from .verify import verify as verify
from .visit import clone_block as clone_block
from .visit import clone_ops as clone_ops
from .visit import clone_program as clone_program
from .visit import free_names as free_names
from .visit import rename_reads as rename_reads
from .visit import rename_variables as rename_variables
