// Holds the precompiled headers that the test programs share (lib/cmake/DistTest.cmake). Never run.
int main() { return 0; }
