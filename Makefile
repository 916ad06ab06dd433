# A thin face of the CMake presets: every target installs what it misses (tools/setup says what and why), then builds.

RANKS ?= 4
PEERS ?=
SLICE ?=
ROOM ?=
SECONDS ?= 60
JOBS ?= $(shell nproc)
export RANKS

base := build mpi libraries python pictures
ROOMS := $(notdir $(patsubst %/CMakeLists.txt,%,$(wildcard barrio/*/CMakeLists.txt)))

# configure a preset once; Ninja runs CMake again by itself when its files change. A source alone spends half of its time
# on headers, so that a room compiles as one source or two; whoever works on the sources configures the presets by hand,
# or with UNITY=OFF
UNITY ?= ON
# where make install puts it
PREFIX ?= $(CURDIR)/build/prefix
configure = test -f build/$(1)/build.ninja || cmake --preset $(1) -DCMAKE_UNITY_BUILD=$(UNITY)
# with what the preset says of that
configure_alone = test -f build/$(1)/build.ninja || cmake --preset $(1)
build = cmake --build --preset $(1) -j $(JOBS)

.NOTPARALLEL:
.PHONY: help demo examples bench all install deb lint room fast check check-mpich check-smpi docs nightly fuzz tidy doctor clean

help:  ## this list
	@echo 'usage: make TARGET [RANKS=4] [JOBS=$(JOBS)] [SECONDS=60] [PREFIX=build/prefix]'
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1:\2/p' Makefile | awk -F: '{ printf "  %-12s %s\n", $$1, $$2 }'

demo:  ## run the main job on a real mesh, with RANKS ranks; ends with the path of its report
	@tools/setup $(base)
	@$(call configure,release)
	$(call build,release) --target barrio-demo-first
	tools/demo --first
	$(call build,release) --target barrio-demo
	tools/demo
	@echo 'The rest: the Python package and the programs of the first tutorials'
	$(call build,release) --target barrio-demo-more

examples:  ## build the command and the programs of examples/
	@tools/setup $(base)
	@$(call configure,release)
	$(call build,release) --target barrio-examples

bench:  ## build the command and the benchmarks that barrio bench runs; PEERS=1: and every peer that a registry has
	@tools/setup $(base) $(if $(PEERS),peers)
	@$(if $(PEERS),tools/peers && cmake --preset release -DCMAKE_UNITY_BUILD=$(UNITY) -DBARRIO_PEERS_DIR=$(CURDIR)/build/peers,$(call configure,release))
	$(call build,release) --target barrio-benchmarks

all:  ## build everything but the tests
	@tools/setup $(base)
	@$(call configure,release)
	$(call build,release) --target barrio-demo-more barrio-examples barrio-benchmarks

install:  ## build and install library, command and benchmarks into PREFIX
	@tools/setup $(base)
	@$(call configure,release)
	$(call build,release) --target barrio-install
	cmake --install build/release --prefix '$(PREFIX)'
	@printf '\nInstalled. To use it:\n'
	@printf '  export PATH=%s:$$PATH\n' '$(abspath $(PREFIX))/bin'
	@for python in '$(abspath $(PREFIX))'/lib*/barrio/python '$(abspath $(PREFIX))'/lib/*/barrio/python; do \
	  test ! -d "$$python" || printf '  export PYTHONPATH=%s   # import barrio, and pictures of barrio show\n' "$$python"; done
	@printf '  export BARRIO_PYTHON=%s   # or any Python with numpy, mpi4py, matplotlib and pyvista\n' '$(abspath build/venv/bin/python)'
	@printf '  barrio show YOUR_MESH\n'

deb:  ## Debian packages of the command and of the library, in build/release/packages
	@tools/setup $(base) deb
	@$(call configure,release)
	$(call build,release) --target barrio-install
	cd build/release && cpack

lint:  ## check the form of sources and pages; seconds
	@tools/setup lint
	tools/lint

room:  ## while you work on ROOM: lint, that room's library and tests, on 1, 3 and 4 ranks
	@test -n '$(ROOM)' || { echo 'make room: which one? make room ROOM=mesh' >&2; exit 2; }
	@test -f 'tests/$(ROOM)/CMakeLists.txt' || { echo "make room: there is no '$(ROOM)'; rooms: $(ROOMS)" >&2; exit 2; }
	@tools/setup build mpi libraries lint
	tools/lint
	@$(call configure_alone,room)
	$(call build,room) --target barrio-tests-$(ROOM)
	ctest --preset room -L '^$(ROOM)$$'

fast:  ## build, and the tests that take less than a minute
	@tools/setup $(base)
	@$(call configure,release)
	$(call build,release)
	ctest --preset fast

check:  ## build everything, lint, and all tests with Open MPI
	@tools/setup $(base) lint
	tools/lint
	@$(call configure,release)
	$(call build,release)
	ctest --preset check

check-mpich:  ## the tests of what calls MPI, with MPICH
	@tools/setup $(base) mpich
	@$(call configure,mpich)
	$(call build,mpich)
	ctest --preset mpich

check-smpi:  ## the tests of what sends messages, on simulated clusters (SimGrid SMPI)
	@tools/setup build libraries smpi
	@$(call configure_alone,smpi)
	$(call build,smpi)
	ctest --preset smpi

nightly:  ## slow checks, in slices of at most 40 minutes: SLICE=asan, or several; each is noted in docs/nightly.md
	@tools/nightly $(SLICE)

fuzz:  ## clang's fuzzer on every reader of meshes and planar graphs, SECONDS for each
	@tools/setup build mpi libraries fuzz
	@$(call configure,fuzz)
	$(call build,fuzz)
	python3 tests/fuzz/run.py --seconds $(SECONDS)

tidy:  ## clang-tidy over what is not known to be clean
	@tools/setup $(base) tidy lint
	@cmake --preset release -B build/tidy -DCMAKE_UNITY_BUILD=ON >/dev/null  # which lists commands
	tools/lint --tidy

docs:  ## the site, build/docs/site/index.html: all pages, every public entity of C++ and Python, a search
	@tools/setup docs
	build/venv/bin/python tools/docs

doctor:  ## what this machine has, what is missing and how to get it
	@tools/doctor

clean:  ## remove build/
	rm -rf --one-file-system build
