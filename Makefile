# CMake and Ninja do the work; this file gives it short names.
#
#   make            build/sinew, build/libsinew.a, build/libsinew.so
#   make demo       simulate the demo character's walk; picture, cache and movie (by ffmpeg) in out/demo
#   make test       every test; the last line counts them
#   make soak       the long tests, such as faults at every call; ONLY="NAME..." chooses campaigns of tools/soak.sh
#   make sanitize   the quick unit tests under the address and undefined-behaviour sanitizers
#   make tsan       tests that use threads under the thread sanitizer
#   make fuzz       every fuzz target for SECONDS (30), from the seeds in fuzz/; fails on any finding
#   make coverage   lines and branches that the tests reach; tables and report in out/coverage; fails below what is promised
#   make analyze    gcc's static analyzer over library and program
#   make lint       format, layers, house rules, cppcheck, clang-tidy
#   make format     format the tree in place
#   make bench      the benchmarks; table and plots in out/bench
#   make scenes     simulate every scene of scenes/; table, runs and pictures in out/scenes
#   make pictures   every scene as a picture in out/pictures; what README and docs show in docs/pictures
#   make blender    the add-on for Blender as build/sinew_blender.zip
#   make install    into PREFIX (default /usr/local), below DESTDIR if given
#   make clean      remove what was built
#
# Another build folder with other options: make test BUILD=build-x CMAKE_FLAGS=-DSN_WERROR=ON

BUILD       ?= build
CMAKE_FLAGS ?=
PREFIX      ?= /usr/local
JOBS        ?= $(shell nproc 2>/dev/null || echo 2)
SECONDS     ?= 30
empty       :=
space       := $(empty) $(empty)

# The assets folder beside the checkout is optional; tests that want it are skipped without.
run_tests = tools/run_tests.sh $(1) -j$(JOBS) $(2)

.PHONY: all meshes deps test_deps demo test soak sanitize tsan fuzz coverage analyze lint format bench scenes pictures blender install clean

# The meshes of the scenes are made, not kept.
all: $(BUILD)/build.ninja
	@cmake --build $(BUILD)
	@[ scenes/meshes/.made -nt $(BUILD)/samples/shapes ] || $(MAKE) --no-print-directory meshes

meshes:
	@mkdir -p scenes/meshes
	@$(BUILD)/samples/shapes scenes/meshes
	@$(BUILD)/samples/creature scenes/meshes
	@touch scenes/meshes/.made

deps:
	@tools/deps.sh

test_deps:
	@tools/deps.sh --test

# Ninja itself runs CMake again when a CMakeLists.txt changes, so configuring is for the first time.
$(BUILD)/build.ninja: | deps
	cmake --preset release -B $(BUILD) $(CMAKE_FLAGS)

build-sanitize/build.ninja: | deps
	cmake --preset sanitize $(CMAKE_FLAGS)

demo: all
	@mkdir -p out/demo
	$(BUILD)/samples/creature out/demo
	$(BUILD)/sinew flesh out/demo/creature.glb -o out/demo/run --frames 1:24
	$(BUILD)/sinew render out/demo/run --beside out/demo/skinned.pc2 -o out/demo/sheet.png
	@rm -f out/demo/view.html
	-$(BUILD)/sinew view out/demo/run --export out/demo/view.html
	@if command -v ffmpeg >/dev/null; then set -x; \
	  $(BUILD)/sinew render out/demo/run -o out/demo/walk.mp4 --size 400x300; fi
	@echo
	@echo "picture  $(CURDIR)/out/demo/sheet.png"
	@if [ -f out/demo/walk.mp4 ]; then echo "movie    $(CURDIR)/out/demo/walk.mp4"; fi
	@if [ -f out/demo/view.html ]; then echo "page     $(CURDIR)/out/demo/view.html"; fi
	@echo "cache    $(CURDIR)/out/demo/run"

test: test_deps all
	@$(call run_tests,$(BUILD))

soak: test_deps all
	@tools/soak.sh $(BUILD) $(ONLY)

# Chosen as ctest does; make soak takes the slow ones too.
SANITIZED ?= -LE '^(whole|slow)$$'
sanitize: build-sanitize/build.ninja
	@cmake --build build-sanitize --target unit_tests
	@$(call run_tests,build-sanitize,$(SANITIZED))

build-fuzz/build.ninja: | deps
	cmake --preset fuzz $(CMAKE_FLAGS)

fuzz: build-fuzz/build.ninja
	@cmake --build build-fuzz --target fuzzers
	@JOBS=$(JOBS) tools/fuzz.sh build-fuzz $(SECONDS)

# Tests in which threads work together, small enough for a sanitizer that takes ten times as long.
THREADED = base_parallel base_memory base_sort octree_octree octree_families solve_newton elasticity_flesh scene_step
build-thread/build.ninja: | deps
	cmake --preset thread $(CMAKE_FLAGS)

tsan: build-thread/build.ninja
	@cmake --build build-thread --target $(THREADED:%=test_%)
	@TSAN_OPTIONS=halt_on_error=1 tools/run_tests.sh build-thread -j$(JOBS) \
	  -R '^($(subst $(space),|,$(subst _,/,$(THREADED))))$$'

build-coverage/build.ninja: | deps
	cmake --preset coverage $(CMAKE_FLAGS)

# COVERAGE_TESTS chooses tests as ctest does, such as -R io/; the default leaves out long runs, and of the whole programs all
# but those that are about files and faults.
COVERAGE_TESTS ?= -E '^whole/' -LE '^slow$$'
COVERAGE_WHOLE ?= -R '^whole/(cli|export|farm|faults|vtu)$$'
coverage: build-coverage/build.ninja
	@cmake --build build-coverage
	@find build-coverage -name '*.gcda' -delete
	@tools/run_tests.sh build-coverage -j$(JOBS) $(COVERAGE_TESTS)
	@tools/run_tests.sh build-coverage -j$(JOBS) $(COVERAGE_WHOLE)
	@python3 tools/coverage.py build-coverage out/coverage

analyze: $(BUILD)/build.ninja
	@ninja -C $(BUILD) build.ninja >/dev/null
	@python3 tools/analyze.py $(BUILD)

lint: $(BUILD)/build.ninja
	@tools/lint.sh $(BUILD)

format: | deps
	@find src include cli samples peers tests fuzz -name '*.[ch]' -print0 | xargs -0 -r clang-format -i
	@find web -name '*.js' -print0 -o -name '*.mjs' -print0 | xargs -0 -r clang-format -i

bench:
	@tools/deps.sh --bench
	@$(MAKE) --no-print-directory $(BUILD)/build.ninja
	@cmake $(BUILD) >/dev/null
	@cmake --build $(BUILD)
	@$(BUILD)/sinew bench -o out/bench
	@echo
	@echo "table    $(CURDIR)/out/bench/table.md"
	@echo "plots    $(CURDIR)/out/bench"

scenes: all
	@python3 tests/whole/scenes.py $(BUILD)/sinew $(BUILD)/samples/shapes $(BUILD)/samples/creature \
	  out/scenes --keep --pictures

pictures: demo
	@tools/pictures.sh $(BUILD) out/pictures

blender: $(BUILD)/build.ninja
	@cmake --build $(BUILD) --target blender_zip
	@echo "add-on   $(abspath $(BUILD))/sinew_blender.zip"

install: all
	@DESTDIR=$(DESTDIR) cmake --install $(BUILD) --prefix $(PREFIX)

clean:
	rm -rf build build-* out scenes/meshes
