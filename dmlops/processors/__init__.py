"""``dmlops.preprocessing``: a model's configuration, to the bit as transformers, timm, open_clip and torchvision, without them.

``sources`` reads a configuration; ``rows`` has the classes, each a rule of ``families`` with parameters, and ``classes.json``
their defaults. A rule makes a plan of sizes alone (``plans``), of parts (``parts``), by ``sizes``, ``canvases`` and
``value_tables``. ``byte_steps`` and ``execution`` run it, ``kept`` keeps what follows from sizes, ``preprocessor`` is the door.
"""
