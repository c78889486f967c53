# Each command sets up what it needs:
#
#   make demo     run the operators on photographs and text; writes demo.png
#   make test     run the test suite
#   make docs     build the documentation site, build/docs/index.html
#
# and for those who work on dmlops (CONTRIBUTING.md says more):
#
#   make check    all that is too heavy for `make test`, in parts: make check-NAME runs one
#   make bench    measure; CELLS="..." measures some cells only, DEVICE=... MIB=... another device and larger arrays
#   make bench-processors  add preprocessing beside transformers and OpenCV to what make bench has written
#   make bench-gpu  compare with PyTorch and CuPy on a GPU, where these are installed; DEVICE=... names it
#   make bench-gpu-stages  pack what measures a GPU, and tests there, on a machine with little more (benchmarks/gpu_stages.py)
#   make bench-drivers  compare lavapipe of three releases of Debian; as root
#   make soak     20,000 examples an operator, half a million chains, 20,000 ONNX models, arrays beyond 4 GiB, every fault, forks and threads by the
#                 hundred, ten minutes of fuzzing, the whole suite where `make check` runs parts, the companion, Windows: hours, 16 GiB of memory
#   make wheels   wheels for Linux, Windows and macOS, a source distribution, and a wheel with a Vulkan driver for the CPU, in dist/
#   make clean    remove all that was made here
#
# PYTHON=python3.12     another interpreter (3.11 or later)
# DMLOPS_SKIP_APT=1     leave the system's packages alone

PYTHON ?= python3
export PYTHON
export PIP_DISABLE_PIP_VERSION_CHECK = 1
# An index that is out of reach for two minutes fails nothing.
export PIP_RETRIES = 9

SOURCES := $(shell find csrc shaders dmlops -type f ! -name '*.pyc' ! -name '*.so') $(wildcard setup.py pyproject.toml MANIFEST.in README.md)
TESTS := tests $(addprefix examples/,preprocessing.ipynb configuration.ipynb fuse.ipynb directml.ipynb)
without = $(patsubst %,--ignore=tests/test_%.py,$(1))
# The longest first: the others fill what is left of two cores.
CHECKS := $(addprefix check-,sanitizers peers deeper validation static wheels docs swiftshader processors leaks direct onnx \
    oldest-numpy fuzz shaders)

.PHONY: demo test bench bench-processors bench-gpu bench-gpu-stages bench-drivers check soak wheels clean help system debootstrap
.PHONY: $(CHECKS)
.DELETE_ON_ERROR:

help:
	@sed -n '/^$$/q;s/^# \{0,1\}//p' Makefile
	@printf '\nNAME of make check-NAME: %s\n' "$(CHECKS:check-%=%)"

demo: .venv/dmlops
	.venv/bin/python examples/demo.py

# Three at a time on two cores: some tests wait, for a signal or for a second to pass. One seed for all, children included: what
# is drawn alike, for each device that lacks something, is compiled once where the kernels are the same.
test: .venv/dmlops
	PYTEST_ADDOPTS="--hypothesis-seed=$$(date +%s) $$PYTEST_ADDOPTS" \
	    .venv/bin/pytest -q -rs -n 3 --dist worksteal --nbmake $(TESTS)

# On the driver that users have, where `make wheels` has put it into dist/. A whole run takes one to two hours; RESUME=1 goes on with
# one that has ended, MINUTES=... ends one. Preprocessing beside transformers and OpenCV joins it: bench-processors.
bench: .venv-bench/dmlops
	@[ -z "$(wildcard dist/dmlops_lavapipe-*.whl)" ] || \
	    .venv-bench/bin/pip install -q --no-deps --no-index --find-links dist --force-reinstall dmlops-lavapipe
	.venv-bench/bin/python benchmarks/run.py $(if $(RESUME),--resume) $(if $(MINUTES),--minutes $(MINUTES)) $(if $(CELLS),--cells $(foreach cell,$(CELLS),'$(cell)')) $(if $(DEVICE),--device '$(DEVICE)') $(if $(MIB),--mib $(MIB))

bench-processors: .venv-bench/dmlops .venv-processors/dmlops .venv-check/dmlops
	.venv-processors/bin/python benchmarks/processors.py --into benchmarks/results/benchmark.json
	.venv-check/bin/python benchmarks/recipes.py --into benchmarks/results/benchmark.json
	.venv-bench/bin/python benchmarks/run.py --render

bench-gpu: .venv-bench/dmlops
	.venv-bench/bin/python benchmarks/gpu.py $(if $(DEVICE),--device '$(DEVICE)') $(if $(MIB),--mib $(MIB))

bench-gpu-stages: .venv/dmlops
	rm -rf build/gpu && mkdir -p build/gpu/lib build/gpu/include
	.venv/bin/pip install -q --python-version 3.12 --only-binary=:all: --no-compile --target build/gpu/site build/wheel/*.whl \
	    -r tests/requirements.txt && rm -rf build/gpu/site/numpy*
	cp -r /usr/include/vulkan /usr/include/vk_video build/gpu/include && cp $$(cc -print-file-name=libvulkan.so.1) build/gpu/lib

bench-drivers: .venv/dmlops | debootstrap
	.venv/bin/python benchmarks/drivers.py

# The site. Everything that it shows is computed while it is built; a warning is an error.
.PHONY: docs check-docs system-browser
docs: .venv-docs/dmlops
	rm -rf build/docs build/docs-cache
	.venv-docs/bin/python docs/assemble.py build/docs-source
	.venv-docs/bin/sphinx-build -q -W --keep-going -b html -d build/docs-cache -c docs build/docs-source build/docs
	@echo "The site: build/docs/index.html"

# It in a browser, page by page: desktop, phone, search, links, pictures, errors on the console. Its pytest knows no Hypothesis.
check-docs: docs | system-browser
	PYTEST_ADDOPTS= .venv-docs/bin/pytest -q -rs --confcutdir tests/docs tests/docs

system-browser: | system
	@DMLOPS_APT_EXTRA="chromium chromium-driver" tools/system-packages.sh || echo "no browser: the tests of the site say what they skip"

soak: .venv/dmlops .venv-fuzz/dmlops .venv-onnx/dmlops .venv-wheels/requirements | debootstrap
	.venv-wheels/bin/python tools/wheels.py
	tests/soak.sh

# For publishing: dmlops, and its companion dmlops-lavapipe, whose first build takes twenty minutes.
wheels: .venv-wheels/requirements | debootstrap
	.venv-wheels/bin/python tools/wheels.py
	.venv-wheels/bin/python companion/build.py x86_64 aarch64
	.venv-wheels/bin/check-wheel-contents dist
	.venv-wheels/bin/twine check --strict dist/*

# Three at a time on two cores, each with its output in one piece; all of them, also after one has failed. `make test` has run
# every test; each of these changes one thing, and runs the tests that have to do with it. All draw the same examples, so that
# lavapipe compiles a kernel once for all of them: Mesa keeps compiled kernels on disk. Environments come first: make begins
# targets that are ready before those that wait for one, the longest of all among them.
check:
	@$(MAKE) --no-print-directory -j2 -O -k $(ENVIRONMENTS) || true
	@PYTEST_ADDOPTS=--hypothesis-seed=$$(date +%s) $(MAKE) --no-print-directory -j3 -O -k $(CHECKS)

# These run tests that `make test` has run, with one thing changed, or tests that take minutes: a share of them, which the number
# of the day says, so that as many days have all. `make soak` runs all, as does SHARES=1.
DAY := $(shell echo $$(($$(date +%s) / 86400)))
SHARES := 8
$(addprefix check-,sanitizers validation deeper direct swiftshader leaks oldest-numpy): \
    export DMLOPS_TEST_SHARE = $(DAY)/$(SHARES)

# These look at the C code, at Vulkan calls and at the loader. lavapipe compiles their kernels in about half the time without
# LLVM's optimisation, and stores them for each other; as users get them, kernels are `make test`'s and check-deeper's.
$(addprefix check-,sanitizers validation leaks direct oldest-numpy): export GALLIVM_PERF = nopt

# What takes minutes in the suite itself: the marker `check`.
check-deeper: .venv/dmlops
	.venv/bin/pytest -q -rs -m check tests

# lavapipe as a companion's driver is, without the loader: how it is found, used, forked with and left. Without slow tests to
# which the way of opening it makes no difference: of the GIL, of pools and full queues, of the self-test, of rows of every length.
check-direct: .venv/dmlops
	DMLOPS_TEST_DIRECT=1 DMLOPS_TEST_DEVICES=vulkan HYPOTHESIS_PROFILE=odd .venv/bin/pytest -q -rs \
	    $(addprefix tests/test_,conformance.py device_array.py devices.py process.py threads.py) \
	    tests/test_direct_driver.py::test_this_process_is_as_it_should_be \
	    -k 'not (gil_is_free or pools or selftest or queue_was_full or no_room_in_the_queue or every_length)'

check-fuzz: .venv-fuzz/dmlops
	.venv-fuzz/bin/python tests/fuzz/run.py 60

# Each kernel as the build compiles it, through the SPIR-V validator. ONLY_32_BIT needs no more than every
# device has, but for what a kernel asks of a device by itself: how it rounds, signs of zeros, groups.
check-shaders: | system
	@mkdir -p build/shaders
	@for shader in shaders/*.comp; do for variant in PLAIN SEGMENTED VECTORS ONLY_32_BIT; do \
	    glslc --target-env=vulkan1.2 -O -D$$variant -Ishaders -o build/shaders/kernel.spv $$shader && \
	    spirv-val --target-env vulkan1.2 build/shaders/kernel.spv && echo "valid: $$shader $$variant" || exit 1; \
	    [ $$variant != ONLY_32_BIT ] || [ "$$(spirv-dis build/shaders/kernel.spv | grep OpCapability | grep -Evc 'RoundingModeRTE|SignedZeroInfNanPreserve|GroupNonUniform')" = 1 ] || exit 1; \
	done; done

# The layout of the C code (.clang-format); clang's warnings, its analyser and clang-tidy (.clang-tidy). What compilers for other
# systems say. What type checkers see.
check-static: .venv-onnx/dmlops .venv-static/requirements
	.venv-static/bin/clang-format --dry-run -Werror csrc/*/*.[ch]
	.venv-static/bin/clang-tidy --quiet csrc/*/*.c -- -std=c11 -Wall -Wextra -Wconversion -Icsrc -Ishaders \
	    $$(.venv-onnx/bin/python -c 'import numpy, sysconfig; print("-isystem", sysconfig.get_path("include"), "-isystem", numpy.get_include())') \
	    -isystem $$(dirname build/wheel/temp.*/shaders/rows.spv.h)
	.venv-static/bin/python tools/cross.py $$(dirname build/wheel/temp.*/shaders/rows.spv.h)
	.venv-static/bin/mypy --strict --python-executable .venv-onnx/bin/python tests/typed.py dmlops
	.venv-static/bin/basedpyright --pythonpath .venv-onnx/bin/python

# What the next two leave out on odd devices: numbers of bytes, to Vulkan and to C. There a pytest runs as a child, which heeds
# PYTEST_ADDOPTS where it is not told otherwise.
SAME_ON_ODD_DEVICES := every_length
ON_ODD_DEVICES = PYTEST_ADDOPTS="$$PYTEST_ADDOPTS -k 'not ($(SAME_ON_ODD_DEVICES))'"

# Not one message from the validation layer, synchronisation validation included. Without the tests that run no driver, and
# without those whose Vulkan calls are the same as others': of the cache of results, of Dask and of hostile arguments; of more
# offsets and lengths, which are numbers to Vulkan; of forks, whose children begin anew; of failing allocations, after which the
# same is destroyed as after failing Vulkan calls. `make soak` runs what SAME_TO_VULKAN names.
SAME_TO_VULKAN := every_offset or every_length or alternating_directions or long_rows or packed_records or what_transposes_leave \
    or fork or pools or selftest or queue_was_full or every_allocation or some_allocations or Mesa
check-validation: .venv/dmlops
	HYPOTHESIS_PROFILE=odd DMLOPS_TEST_DEVICES=vulkan $(ON_ODD_DEVICES) \
	    tests/validation/run.sh .venv/bin/pytest -q -rs tests -m 'not (soak or check or driverless)' \
	    $(call without,cache fuzz hostile) --ignore=tests/dask -k 'not ($(SAME_TO_VULKAN))'

# The extension built with -fsanitize=address,undefined, where a warning is an error; the interpreter's own leaks are not
# looked for. With SHARES=1 the same run counts which lines of csrc are executed, and lists the others with the reasons in the
# source.
# Without the tests of arrays that take gigabytes, which execute hardly any other lines, and those that do not run the
# extension; without those that execute the same lines again: for another result of the same failed call, on a device that
# differs by a number, for more sizes of results and lengths of rows. `make soak` runs what SAME_TO_C names, and lets
# every third allocation fail.
SAME_TO_C := INITIALIZATION or OUT_OF_DEVICE or (HOST_MEMORY and after) or Mesa or \
    what_transposes_leave or conformance and (card or import) or next_to_a_limit or nobody_asks or gil_is_free or \
    alternating_directions or long_rows or packed_records or pools or selftest
check-sanitizers: .venv-sanitized/dmlops
	find build/sanitized -name '*.gcda' -delete
	find build/sanitized -name '*.gcno' | while read -r notes; do \
	    source=csrc/$${notes##*/csrc/}; [ -f "$${source%.gcno}.c" ] || rm "$$notes"; \
	done  # of files that are gone, which gcovr would look for
	HYPOTHESIS_PROFILE=odd $(ON_ODD_DEVICES) tests/sanitizers/run.sh .venv-sanitized/bin/pytest -q -rs tests \
	    $(call without,core cpu_driver large reference structure sums) -k 'not ($(SAME_TO_C))'
ifeq ($(SHARES),1)
	.venv-sanitized/bin/gcovr --root . --filter csrc/ --fail-under-line 95 --txt --json build/sanitized/coverage.json \
	    --gcov-ignore-parse-errors=negative_hits.warn_once_per_file build/sanitized
	.venv-sanitized/bin/python tests/uncovered.py build/sanitized/coverage.json
endif

# The wheel was built against NumPy 2; here it runs with the oldest NumPy supported: the tests that NumPy has a part in. Not
# those of kernels, portions, drivers, processes and the cache of results, to which an array is memory, shape and strides.
check-oldest-numpy: .venv-oldest/dmlops
	HYPOTHESIS_PROFILE=odd .venv-oldest/bin/pytest -q -rs tests $(call without,cache core cpu_driver devices direct_driver faults \
	    kernels large limits odd_devices process progress restricted steady_state structure sums threads) -k 'not every_length'

# What is more after each test than before, every time it is run, is a leak. Without tests of thousands of calls that are alike.
check-leaks: .venv/dmlops
	HYPOTHESIS_PROFILE=odd .venv/bin/python tests/leaks.py -q -rs \
	    $(addprefix tests/test_,conformance.py device_array.py dlpack.py errors.py indexing.py slice_from_key.py) \
	    -k 'not (exit or fork or every_length)'

check-peers: .venv-check/dmlops
	.venv-check/bin/pytest -q -rs tests/peers

# dmlops.onnx, also on models that packages carry.
check-onnx: .venv-onnx/dmlops
	.venv-onnx/bin/pytest -q -rs tests/onnx
	.venv-onnx/bin/python tests/onnx/real_models.py build/onnx-models

# dmlops.preprocessing beside the originals: each class with both backends, at one of six sets of sizes, with an eighth of the
# changed keys and a sixth of the odd inputs; the number of the day says which, so that a week has all sizes, and all inputs.
# `make soak` runs all of them, which takes a quarter of an hour; `make test` compares with what they gave once
# (tests/processors/digests.json).
PROCESSORS ?= $(DAY)
check-processors: .venv-processors/dmlops
	DMLOPS_TEST_PROCESSORS=$(PROCESSORS) .venv-processors/bin/pytest -q -rs tests/processors

# The wheels for Linux, made anew, in systems with Python and nothing else: what dmlops does there without a driver. With the
# companion's wheel in dist/, all that check-companion runs there. `make wheels` and `make soak` also build those for other
# systems, for which check-static compiles the same C.
check-wheels: .venv/dmlops .venv-wheels/requirements | debootstrap
	.venv-wheels/bin/python tools/wheels.py manylinux2014_x86_64 manylinux2014_aarch64
	.venv/bin/pytest -q -rs companion/tests/test_build.py
	.venv/bin/pytest -q -rs -s tests/wheels/bare.py

# Not in `make check`, since its first build of Mesa takes ten minutes; `make soak` runs it. Exit status 69: Mesa, or a system
# with an old C library, could not be had.
.PHONY: check-companion
check-companion: .venv/dmlops .venv-wheels/requirements | debootstrap
	.venv-wheels/bin/python tools/wheels.py
	.venv-wheels/bin/python companion/build.py || [ $$? -eq 69 ]
	.venv/bin/pytest -q -rs companion/tests
	.venv/bin/pytest -q -rs -s tests/wheels/bare.py

# The wheel for Windows under wine: installed by pip, its self-test, the portable part of the suite, drivers in odd folders.
# Another version of Python takes its standard library from another Debian.
# Not in `make check`, since wine and what runs in it take ten minutes and more at first; `make soak` runs it.
.PHONY: check-windows system-wine
check-windows: .venv-wheels/requirements | system-wine debootstrap
	.venv-wheels/bin/python tools/wheels.py win_amd64
	PYTEST_ADDOPTS= .venv-wheels/bin/pytest -q -rs -s --confcutdir tests/windows tests/windows/check.py

system-wine: | system
	@DMLOPS_APT_EXTRA="wine wine64 xvfb" tools/system-packages.sh || echo "no wine: its tests are skipped"

# A second driver, without 64-bit integers and storage of 8 and 16 bits: the tests of what dmlops does otherwise there, which
# are kernels, staging and device arrays. What it cannot do, or not within minutes, is skipped, with the reason. Rows of every
# length at every offset: in `make test` and check-deeper, where lavapipe is such a device and builds a pipeline ten times as
# fast. `make soak` runs the whole suite there.
ON_SWIFTSHADER = \
    $(addprefix tests/test_,conformance.py device_array.py dlpack.py kernels.py) \
    -k 'not (exit or freed_only or leaves_nothing_behind or waited_for or every_offset or every_length)'
check-swiftshader: .venv/dmlops
	@manifest=$$(tools/swiftshader.sh) || exit 0; set -x; VK_DRIVER_FILES=$$manifest VK_ICD_FILENAMES=$$manifest \
	    DMLOPS_TEST_DEVICES=vulkan HYPOTHESIS_PROFILE=odd .venv/bin/pytest -q -rs $(ON_SWIFTSHADER)

clean:
	rm -rf build dist .venv .venv-* *.egg-info dmlops/*.so .hypothesis .pytest_cache .mypy_cache demo.png
	rm -f benchmarks/results/*-partial* benchmarks/results/*-unfinished*
	find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +

# What the system must have. Costs a fraction of a second where all is there.
system:
	@! command -v $(PYTHON) >/dev/null || $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo "dmlops needs Python 3.11 or later; $(PYTHON) is $$($(PYTHON) -V 2>&1). Try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@tools/system-packages.sh

# What installs other systems into folders. Where it cannot be had, the scripts that need it say so.
debootstrap: | system
	@DMLOPS_APT_EXTRA=debootstrap tools/system-packages.sh || true

# An environment is three steps, each done again only when what it depends on has changed.
#   $(1): its folder   $(2): its requirement files   $(3): the folder of the wheel that is installed in it
define environment
$(1)/created: | system
	$$(PYTHON) -m venv $(1)
	@touch $$@
$(1)/requirements: $(2) Makefile | $(1)/created
	$(1)/bin/pip install -q 'setuptools>=77' numpy $(addprefix -r ,$(2))
	@touch $$@
$(1)/dmlops: $(3)/made $(1)/requirements
	$(1)/bin/pip install -q --no-deps --force-reinstall $(3)/*.whl
	@touch $$@
endef

# A wheel, and the intermediate files of its build.
#   $(1): the folder   $(2): the environment that builds it   $(3): variables for setup.py
define wheel
$(1)/made: $$(SOURCES) $(2)/requirements | system
	@mkdir -p $(1) && rm -f $(1)/*.whl
	@find $(1) -path '*/lib.*' -name '*.py' -delete # of modules that are there no more
	@printf '[build]\nbuild_base = $(1)\n' > $(1)/build.cfg
	DIST_EXTRA_CONFIG=$$(CURDIR)/$(1)/build.cfg $(3) $(2)/bin/pip wheel -q --no-build-isolation --no-deps -w $(1) .
	@touch $$@
endef

SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -O1 -g --coverage

$(eval $(call wheel,build/wheel,.venv,))
$(eval $(call wheel,build/sanitized,.venv-sanitized,DMLOPS_CFLAGS="$(SANITIZE) -fprofile-update=atomic -Wconversion -Werror" DMLOPS_LDFLAGS="$(SANITIZE)"))
$(eval $(call environment,.venv,$(addprefix tests/,requirements.txt notebooks.txt dask/requirements.txt) examples/requirements.txt,build/wheel))
$(eval $(call environment,.venv-docs,docs/requirements.txt examples/requirements.txt $(addprefix tests/,onnx/requirements.txt dask/requirements.txt),build/wheel))
$(eval $(call environment,.venv-bench,benchmarks/requirements.txt,build/wheel))
$(eval $(call environment,.venv-sanitized,tests/requirements.txt tests/coverage.txt,build/sanitized))
$(eval $(call environment,.venv-static,tests/static.txt,build/wheel))
$(eval $(call environment,.venv-oldest,tests/requirements.txt tests/oldest-numpy.txt,build/wheel))
$(eval $(call environment,.venv-wheels,tools/wheels.txt,build/wheel))
$(eval $(call environment,.venv-fuzz,tests/requirements.txt tests/fuzz/requirements.txt,build/wheel))
$(eval $(call environment,.venv-check,tests/requirements.txt tests/peers/requirements.txt,build/wheel))
$(eval $(call environment,.venv-onnx,tests/requirements.txt tests/onnx/requirements.txt,build/wheel))
$(eval $(call environment,.venv-processors,tests/requirements.txt tests/processors/requirements.txt,build/wheel))

ENVIRONMENTS := $(patsubst %,.venv%/dmlops,-sanitized -onnx -check -processors -oldest -fuzz -docs) .venv/dmlops \
    .venv-static/requirements .venv-wheels/requirements

# The wheel's extension, also beside the sources (git ignores it): Python started in the checkout finds dmlops/ there before
# the installed package.
.venv/dmlops: dmlops/_core.abi3.so
dmlops/_core.abi3.so: build/wheel/made
	@.venv/bin/python -m zipfile -e build/wheel/*.whl build/wheel/files
	@mv build/wheel/files/$@ $@
