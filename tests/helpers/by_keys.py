"""Functions that read and set what is in modules and classes by a key, in a list of names, or through a reference; for `test_namespaces`.

They are in a module of their own, as some look at all that is in it.
"""

import importlib
import inspect
import operator
import sys
import types
import weakref

import dy2st as paddle

NAME = __name__
MODULE = sys.modules[__name__]
SCALE = 2.0
TABLE = [1.0]
KEPT = [None]
NAMES = ["SCALE", "TABLE", "double"]


class Held:
    factor = 2.0

    def __init__(self):
        self.scale = 2.0
        self.items = [1.0]

    def scaled(self, x):
        return x * self.scale

    def by_scale(self, x):
        return x * SCALE

    def __call__(self, x):
        return x * self.scale


HELD = Held()
REF, PROXY, METHOD = weakref.ref(HELD), weakref.proxy(HELD), weakref.WeakMethod(HELD.scaled)
BY_NAME = weakref.WeakValueDictionary(held=HELD)
BEHIND = {"k": 2.0}
VIEW = types.MappingProxyType(BEHIND)
BYTES = bytearray(b"\2")
MEMORY = memoryview(BYTES)


def double(x):
    return x * 2


DOUBLE = double


def put_back():
    vars(MODULE).update(SCALE=2.0, TABLE=[1.0], double=DOUBLE)
    vars(MODULE).pop("EXTRA", None)
    KEPT[0] = None
    HELD.scale, HELD.items, BEHIND["k"], BYTES[0] = 2.0, [1.0], 2.0, 2
    for name in {"extra", "__len__"} & vars(Held).keys():
        delattr(Held, name)
    Held.factor = 2.0


def called(f, change):
    """What a call gives, and one behind a change."""
    put_back()
    found = [f(paddle.ones([2])).numpy().tolist()]
    change()
    return [*found, *(f(paddle.ones([2])).numpy().tolist() for _ in range(2))]


def set_scale():
    vars(MODULE)["SCALE"] = 5.0


def set_held():
    HELD.scale = 5.0


def set_behind():
    BEHIND["k"] = 5.0


def set_bytes():
    BYTES[0] = 5


def set_function():
    vars(MODULE)["double"] = lambda x: x * 7


def add_variable():
    vars(MODULE)["EXTRA"] = 3.0


def add_attribute():
    Held.extra = 3.0


def set_attribute():
    Held.factor = 3.0


def by_a_variable(x):
    def item(space):
        return x * space[NAMES[0]]

    return item(globals())


def by_modules_in_turn(x):
    for name, module in sys.modules.items():
        if name == NAME:
            x = x * module.SCALE
    return x


READ = {
    "globals": (lambda x: x * globals()["SCALE"], set_scale),
    "globals_by_a_name": (lambda x: x * globals()[NAMES[0]], set_scale),
    "function_by_a_text": (lambda x: globals()["dou" + "ble"](x), set_function),
    "get": (lambda x: x * globals().get(NAMES[0], 1.0), set_scale),
    "get_of_none": (lambda x: x * globals().get("EX" + "TRA", 1.0), add_variable),
    "in": (lambda x: x * ("EXTRA" in globals()) + 2 * ("EXTRA" not in vars(MODULE)), add_variable),
    "vars": (lambda x: x * vars(MODULE)[NAMES[0]], set_scale),
    "dict": (lambda x: x * MODULE.__dict__["SCALE"], set_scale),
    "of_a_function": (lambda x: x * double.__globals__["SCALE"], set_scale),
    "of_a_frame": (lambda x: x * sys._getframe().f_globals["SCALE"], set_scale),
    "items": (lambda x: x * sum(v for k, v in globals().items() if k == "SCALE"), set_scale),
    "variable": (by_a_variable, set_scale),
    "copied": (lambda x: x * {**globals()}[NAMES[0]], set_scale),
    "itemgetter": (lambda x: x * operator.itemgetter(NAMES[0])(globals()), set_scale),
    "attrgetter": (lambda x: x * operator.attrgetter(NAMES[0])(MODULE), set_scale),
    "attrgetter_of_two": (lambda x: x * operator.attrgetter(NAMES[0], "HELD.scale")(MODULE)[1], set_held),
    "methodcaller": (lambda x: operator.methodcaller("by_scale", x)(HELD), set_scale),
    "methodcaller_with_a_keyword": (lambda x: operator.methodcaller("by_scale", x=x)(HELD), set_scale),
    "eval": (lambda x: x * eval("SCA" + "LE", globals()), set_scale),
    "eval_of_vars": (lambda x: x * eval(NAMES[0], vars(MODULE)), set_scale),
    "modules": (lambda x: x * sys.modules[NAME].SCALE, set_scale),
    "modules_in_turn": (by_modules_in_turn, set_scale),
    "import_module": (lambda x: x * importlib.import_module(NAME).SCALE, set_scale),
    "getmodule": (lambda x: x * inspect.getmodule(DOUBLE).SCALE, set_scale),
    "dir_of_a_module": (lambda x: x * len([n for n in dir(MODULE) if n == "EXTRA"]), add_variable),
    "dir_of_a_class": (lambda x: x * len([n for n in dir(Held) if n == "extra"]), add_attribute),
    "dir_of_an_object": (lambda x: x * len([n for n in dir(HELD) if n == "extra"]), add_attribute),
    "members_of_a_module": (lambda x: x * dict(inspect.getmembers(MODULE))[NAMES[0]], set_scale),
    "members_of_an_object": (lambda x: x * dict(inspect.getmembers(HELD))["factor"], set_attribute),
    "static_attribute": (lambda x: x * inspect.getattr_static(Held, "extra", 1.0), add_attribute),
    "vars_of_a_class": (lambda x: x * vars(Held).get("extra", 1.0), add_attribute),
    "dict_of_a_class": (lambda x: x * len(Held.__dict__), add_attribute),
    "in_a_class": (lambda x: x * ("extra" in Held.__dict__), add_attribute),
    "method_of_a_class": (lambda x: vars(Held)["scaled"](HELD, x), set_held),
    "reference": (lambda x: x * REF().scale, set_held),
    "proxy": (lambda x: x * PROXY.scale, set_held),
    "proxy_called": (lambda x: PROXY(x) + PROXY.scaled(x), set_held),
    "weak_method": (lambda x: METHOD()(x), set_held),
    "weak_values": (lambda x: x * BY_NAME["held"].scale, set_held),
    "view_of_a_dict": (lambda x: x * VIEW["k"], set_behind),
    "memory": (lambda x: x * MEMORY[0], set_bytes),
}


def counted(x):
    globals()["SCALE"] += 1
    return x * SCALE


def counted_on_a_path(x):
    if x.sum() > 0:
        globals()["SCALE"] += 1
    return x * SCALE


def updated(x):
    globals().update(SCALE=SCALE + 1)
    return x * SCALE


def set_by_name(x):
    if x.sum() > 0:
        setattr(MODULE, NAMES[0], MODULE.SCALE + 1)
    return x * SCALE


def of_a_module_looked_up(x):
    sys.modules[NAME].SCALE += 1
    return x * SCALE


def of_a_proxy(x):
    if x.sum() > 0:
        PROXY.scale += 1
    return x * HELD.scale


def of_a_reference(x):
    REF().scale += 1
    REF().items.append(1.0)
    return x * HELD.scale * len(HELD.items)


def appended(x):
    globals()[NAMES[1]].append(2.0)
    return x * len(TABLE)


CHANGING = [counted, counted_on_a_path, updated, set_by_name, of_a_module_looked_up, of_a_proxy, of_a_reference, appended]


def new_variable(x):
    globals()["EXTRA"] = x * 2
    return EXTRA  # noqa: F821


def new_variable_on_a_path(x):
    if x.sum() < 0:
        vars(MODULE)["EXTRA"] = x * 2
        return x
    globals()["EXTRA"] = x * 3
    return MODULE.EXTRA


def deleted(x):
    new_variable(x)
    del globals()["EXTRA"]
    return x * len([n for n in globals() if n == "EXTRA"])


def executed(x):
    exec("SCALE += 1", globals())
    return x


def executed_anew(x):
    exec("EXTRA = 1", vars(MODULE))
    return x


def keeps_from_globals(x):
    if x.sum() > 0:
        KEPT[0] = globals()["TABLE"]
    return x


def keeps_from_a_name(x):
    if x.sum() > 0:
        KEPT[0] = globals()[NAMES[1]]
    return x


def keeps_from_modules(x):
    if x.sum() > 0:
        KEPT[0] = sys.modules[NAME].TABLE
    return x


def evaluated(x):
    return x * eval("SCALE", globals())


def key_of_the_run(x):
    return x * globals()[NAMES[x.sum().astype("int64")]]
