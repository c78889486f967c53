"""``dmlops.fuse``: functions of arrays are traced, become pieces that strided copies move, and are proved equal to NumPy.

``runs`` and ``layout`` are the algebra, ``graph`` and ``movements`` what it is applied to, ``traced``, ``numpy_functions`` and
``operators`` what records it, ``compiler`` makes programs of it, ``fused`` finds them for a call's arguments (``keys``,
``programs``) and runs them, ``proof`` proves them. ``tracing`` runs the function, traced or as it is, ``surroundings`` knows
what it brings along, ``own_run`` compares it with its program.
"""
