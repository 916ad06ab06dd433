# A thin face of the CMake presets: every target installs what it misses (tools/setup says what and why), then builds.

RANKS ?= 4
SECONDS ?= 60
JOBS ?= $(shell nproc)
export RANKS

base := build mpi libraries python pictures

# configure a preset once; Ninja runs CMake again by itself when its files change. A source alone spends half of its time
# on headers, so that a room compiles as one source or two; whoever works on the sources configures the presets by hand,
# or with UNITY=OFF
UNITY ?= ON
# where make install puts it
PREFIX ?= $(CURDIR)/build/prefix
configure = test -f build/$(1)/build.ninja || cmake --preset $(1) -DCMAKE_UNITY_BUILD=$(UNITY)
build = cmake --build --preset $(1) -j $(JOBS)

.NOTPARALLEL:
.PHONY: help demo examples bench all install fast check check-mpich check-smpi check-asan check-tsan check-long fuzz tidy doctor clean

help:  ## this list
	@echo 'usage: make TARGET [RANKS=4] [JOBS=$(JOBS)] [SECONDS=60] [PREFIX=build/prefix]'
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1:\2/p' Makefile | awk -F: '{ printf "  %-12s %s\n", $$1, $$2 }'

demo:  ## run the main job on a real mesh, with RANKS ranks; ends with the path of its report
	@tools/setup $(base)
	@$(call configure,release)
	$(call build,release) --target barrio-demo
	tools/demo

examples:  ## build the command and the programs of examples/
	@tools/setup $(base)
	@$(call configure,release)
	$(call build,release) --target barrio-examples

bench:  ## build the command and the benchmarks that barrio bench runs
	@tools/setup $(base)
	@$(call configure,release)
	$(call build,release) --target barrio-benchmarks

all:  ## build everything but the tests
	@tools/setup $(base)
	@$(call configure,release)
	$(call build,release) --target barrio-demo barrio-examples barrio-benchmarks

install:  ## build and install library, command and benchmarks into PREFIX
	@tools/setup $(base)
	@$(call configure,release)
	$(call build,release) --target barrio-install
	cmake --install build/release --prefix '$(PREFIX)'

fast:  ## build, and the tests that take less than a minute
	@tools/setup $(base)
	@$(call configure,release)
	$(call build,release)
	ctest --preset fast

check:  ## build everything, lint, and all tests with Open MPI
	@tools/setup $(base) lint
	@$(call configure,release)
	$(call build,release)
	tools/lint
	ctest --preset check

check-mpich:  ## the tests with MPICH
	@tools/setup $(base) mpich
	@$(call configure,mpich)
	$(call build,mpich)
	ctest --preset mpich

check-smpi:  ## the tests on simulated clusters (SimGrid SMPI)
	@tools/setup build libraries smpi
	@$(call configure,smpi)
	$(call build,smpi)
	ctest --preset smpi

check-asan:  ## the tests with address and undefined-behaviour sanitizers
	@tools/setup $(base)
	@$(call configure,asan)
	$(call build,asan)
	ctest --preset asan

check-tsan:  ## the communication thread with the thread sanitizer
	@tools/setup $(base)
	@$(call configure,tsan)
	$(call build,tsan) --target test_exchange_threads
	ctest --preset tsan

check-long: check-asan check-tsan tidy  ## sanitizers, static analysis, the tests too slow for check, a short fuzz
	@$(call configure,release)
	$(call build,release)
	ctest --preset long
	@tools/setup smpi
	@$(call configure,smpi)
	$(call build,smpi)
	ctest --preset smpi-long
	$(MAKE) fuzz SECONDS=10

fuzz:  ## clang's fuzzer on every reader of meshes and planar graphs, SECONDS for each
	@tools/setup build mpi libraries fuzz
	@$(call configure,fuzz)
	$(call build,fuzz)
	python3 tests/fuzz/run.py --seconds $(SECONDS)

tidy:  ## clang-tidy over what is not known to be clean, and that each source includes what it uses
	@tools/setup $(base) tidy lint
	@cmake --preset release -B build/tidy >/dev/null  # which lists each source alone
	tools/lint --tidy

doctor:  ## what this machine has, what is missing and how to get it
	@tools/doctor

clean:  ## remove build/
	rm -rf --one-file-system build
