// How this program was built.
#pragma once

#include <string_view>

namespace distlab {

struct BuildInfo {
  std::string_view version;
  std::string_view compiler;   // "GNU 12.2.0"
  std::string_view cmake;      // its version
  std::string_view type;       // "RelWithDebInfo"
  std::string_view sanitizer;  // "thread", or empty
  // The version that was built in; if it is empty, why_no_... gives the reason.
  std::string_view cuda, nccl, cudnn, mpi, onednn, zlib;
  std::string_view why_no_cuda, why_no_nccl, why_no_cudnn, why_no_mpi, why_no_onednn, why_no_zlib;
};

const BuildInfo& build_info();

// A line for reports of measurements by a build that is not for them; empty in a release build.
std::string_view warning_of_build();

}  // namespace distlab
