// Linked instead of nccl.cpp in a build without NCCL.
#include "probes.h"

namespace probe {

void nccl_version(const Report& report) {
  report.note("NCCL: not in this build (configure with -DDIST_NCCL=ON)");
}
void nccl_plain(const Report&) { throw Skipped("built without NCCL"); }
void nccl_hostid(const Report&) { throw Skipped("built without NCCL"); }

}  // namespace probe
