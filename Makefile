# make build | demo | test, from a fresh clone on Debian 12. The work itself is CMake's: see CMakePresets.json.

BUILD := build/release
# Set by continuous integration: warnings are errors there.
CONFIGURE := $(if $(filter true 1,$(CI)),-DCOTERIE_WARNINGS_AS_ERRORS=ON,-DCOTERIE_WARNINGS_AS_ERRORS=OFF)
FORMAT := clang-format-14
SOURCES = git ls-files -z -- '*.cpp' '*.hpp'

.DEFAULT_GOAL := help
.PHONY: help packages configure build demo test test-slow benchmark format check-format clean

help: ## This list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1|\2/p' $(MAKEFILE_LIST) | sort | awk -F'|' '{printf "%-20s %s\n", $$1, $$2}'

packages:
	@scripts/install-packages

configure: packages
	@mkdir -p build
	@cmake --preset release $(CONFIGURE) \
	  $$(command -v ccache >/dev/null && echo -DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache) >$(BUILD).configure.log 2>&1 \
	  || { cat $(BUILD).configure.log; exit 1; }

build: configure ## The command build/release/cli/coterie, the library and the tests
	@ninja -C $(BUILD) $(if $(JOBS),-j$(JOBS))

demo: build ## A first look: what the methods find that plain distances hide
	@scripts/demo

# ctest's closing line is said again, below its lists of times and of skipped tests.
test: build ## The fast tests
	@status=0; \
	ctest --test-dir $(BUILD) -LE slow --output-on-failure --no-label-summary -j2 --output-log $(BUILD).tests.log || status=$$?; \
	grep -E '^[0-9]+% tests passed, [0-9]+ tests failed out of [0-9]+' $(BUILD).tests.log | tail -n 1; \
	exit $$status

test-slow: build ## The slow tests: MNIST beside scikit-learn, every reader under libFuzzer with sanitizers
	@scripts/install-packages packages-slow.txt
	@ctest --test-dir $(BUILD) -L slow --output-on-failure --no-label-summary
	@cmake --preset fuzz >/dev/null && ninja -C build/fuzz && ctest --test-dir build/fuzz --output-on-failure --no-label-summary

benchmark: packages ## Build the benchmarks (benchmarks/README.md says how to run them)
	@scripts/install-packages packages-slow.txt
	@cmake --preset benchmark && ninja -C build/benchmark

format: ## Format the sources
	@$(SOURCES) | xargs -0 $(FORMAT) -i

check-format: ## Say which sources are not formatted
	@$(SOURCES) | xargs -0 $(FORMAT) --dry-run -Werror

clean: ## Remove everything that was built
	@rm -rf build
