// Carries the headers that tests/CMakeLists.txt precompiles, also where no helper can be built.
