"""``dmlops.fuse``: functions of arrays are traced, become pieces that strided copies move, and are proved equal to NumPy.

``runs`` and ``layout`` are the algebra, ``graph`` and ``movements`` what it is applied to. ``traced`` has the arrays that
record it, ``numpy_functions`` and ``operators`` what they record; ``recording`` gives a trace both. ``compiler`` makes
programs, ``fused`` finds them for a call's arguments (``keys``, ``programs``) and runs them, ``proof`` proves them. ``tracing``
runs the function, traced or as it is, ``surroundings`` knows what it brings along, ``own_run`` compares it with its program.

Imports go down only. From the bottom: arithmetic of arguments (``operators.axes``, ``nearest``, ``crop_places``), twins
(``reference``), nodes, traces, recording, compiler, ``compiled``, explanation and proof, ``fused``. Above it are the operators
that are fused functions, ``on_devices``, and whatever takes calls: they import ``fused`` where they first need it.

A key (``keys``) is made of Python's own types, so that the cache (``programs``) needs no lock: none is held while Python runs.
Layouts are chains of movements as mixed radices of axes; where one cuts through a radix the result has several pieces, beyond
256 an intermediate result is written. ``plan/coverage.c`` refuses a program whose steps do not write every element of each
result once, so no fault of these steps shows what lay in the memory of a result.

Of graphs that are alike but for numbers (``sights``), the compiler runs once with numbers that remember how they were computed
(``numbers``): a straight line of code with guards, compared with its steps at first, makes those of other sizes (``replay``).

Traces (``traced``) are arrays that record NumPy's functions and, by ``__dmlops_function__``, dmlops' operators: those whose
twins are plain NumPy are recorded as these, others have steps of their own (``operators``). A map of items of one byte or two
is a table that NumPy computes (``maps``, ``host/host_lookups.c``); one of larger items is a formula, instructions for blocks of
elements (``lowering``, ``formula_checks``, ``plan/formula.h``, ``host_formulas.c``), whose constants
are its table. A resize is a pass of its own (``resized``), of the window that later steps read (``reads``). Indices that are
arguments say where plans begin to read: there is a plan for each, in a variant for each mirror, and a call selects and moves
them (``chosen``, ``dml_selection``). Other floats and means make other tables of the same program (``parameters``), unless the
function asks what they are (``watched``). ``proof`` runs NumPy's functions, and the plans as the device gets them, on numbers;
``own_run`` runs the function itself beside its program.
"""
