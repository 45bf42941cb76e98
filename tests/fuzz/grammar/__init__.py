"""The grammar of random programs: templates of expressions and statements, by type.

Holes of a template:

    <vec>      an expression of a type; <vec0>: one without parts
    <a|b>      one of these texts
    <cmp>      a comparison
    <made>     the class of the objects of this program
    <$vec>     a place that there is and that may be assigned here: a variable, an attribute, an item (`PARTS`)
    <!vec>     a place that is read, or changed in place: one of a function around it too
    <=vec>     a place that is assigned: one that there is, or a new variable
    <^vec>     a variable of the function around, in a `nonlocal` statement; the rest of the block may assign it
    <@c>       a new name; <@c:vec>: a new variable of that type
    <:p>       what the hole `<$vec:p>` or `<!vec:p>` of this statement was filled with

A line `<block>` is some statements, `<body>` those of a loop, `<function>` those of a function from a vector to one that is defined
here, `<procedure>` those of one without arguments and result.

Types: `vec` a float32 vector as long as `x`, `free` one of any length, `mat` float32 rows of 3, `ivec` an int64 vector, `mask` a bool
vector, `sca` and `int` 0-d tensors; `num`, `flt`, `bool` numbers of Python; `kind` a number or 0-d tensor that changes its kind; `optv`,
`optn`, `opts` a vector, a number or a 0-d tensor, or None; `vecs`, `scas`, `nums` lists; `table` a dict of `sca` with at least 'a' and 'b',
`groups` one of `scas`; `rows` a list of at least one of `scas`; `box` an object with a vector, `holder` one with a `sca`, `tables`
and `holders` lists of at least one of these; `text` a text; `fn` a function from a vector to one, `act` one of neither.
"""

from .expressions import CONDITIONS, EXPRESSIONS, LEAVES, PARTS
from .statements import LEAVING, RAISING, STATEMENTS
from .surroundings import ATTRIBUTES, METHODS, OF_SELF, OUTSIDE, PARAMETERS, STARTS

__all__ = [
    "ATTRIBUTES", "CONDITIONS", "EXPRESSIONS", "LEAVES", "LEAVING", "METHODS", "OF_SELF", "OUTSIDE", "PARAMETERS", "PARTS", "RAISING",
    "STARTS", "STATEMENTS",
]  # fmt: skip
