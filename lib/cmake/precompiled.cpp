// Holds precompiled headers that several programs share (DistPrecompile.cmake). Never run.
int main() { return 0; }
