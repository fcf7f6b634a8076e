#include "dist/nn/cpu_ops.h"
#include "dist/nn/parts.h"
#include "dist/nn/plain_ops.h"

namespace dist::nn {

const Ops& cpu_ops() {
  static const PlainOps ops;
  return ops;
}

// The threads are oneDNN's.
void run_parts(int parts, void (*f)(const void* context, int part), const void* context) {
  for (int part = 0; part < parts; ++part) f(context, part);
}

// DIST_ONEDNN_WHY: what CMake found out (lib/cmake/DistOneDnn.cmake).
const char* describe_cpu_ops() { return "plain loops: " DIST_ONEDNN_WHY; }

}  // namespace dist::nn
