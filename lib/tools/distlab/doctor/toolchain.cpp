// What distlab is built with: compiler, CMake, libraries, MPI.
#include <string>

#include <fmt/format.h>

#include "dist/backend/backend.h"

#include "distlab/build_info.h"
#include "distlab/doctor/doctor.h"
#include "distlab/process.h"

namespace distlab {
namespace {

Finding compiler() {
  const auto& build = build_info();
  std::string found = fmt::format("{}, {} build", build.compiler, build.type);
  if (!build.sanitizer.empty()) found += fmt::format(" with -fsanitize={}", build.sanitizer);
  return {"compiler", Health::good, found, ""};
}

Finding program(const std::string& name, const std::string& version, const std::string& cost) {
  const std::string path = find_program(name);
  if (path.empty()) return {name, Health::absent, "not found", cost};
  return {name, Health::good, version.empty() ? path : fmt::format("{} ({})", version, path), ""};
}

Finding open_mpi() {
  const auto& build = build_info();
  if (build.mpi.empty()) {
    return {"Open MPI", Health::absent, "not in this build",
            fmt::format("no mpi backend, and mpirun cannot start programs; everything else works ({})",
                        build.why_no_mpi)};
  }
  std::string why;
  if (!dist::backend_named("mpi").available(&why))
    return {"Open MPI", Health::absent, fmt::format("{} built in, but it cannot be loaded", build.mpi), why};
  const std::string mpirun = find_program("mpirun");
  if (mpirun.empty()) {
    return {"Open MPI", Health::absent, fmt::format("{} built in, but there is no mpirun in PATH", build.mpi),
            "mpirun cannot start programs; use distrun"};
  }
  return {"Open MPI", Health::good, fmt::format("{} ({})", build.mpi, mpirun), ""};
}

Finding onednn() {
  const auto& build = build_info();
  if (!build.onednn.empty()) return {"oneDNN", Health::good, std::string(build.onednn), ""};
  return {"oneDNN", Health::absent, "not in this build",
          fmt::format("training on the CPU (labs 14 to 16) is slower, with plain loops ({})",
                      build.why_no_onednn)};
}

Finding zlib() {
  const auto& build = build_info();
  if (!build.zlib.empty()) return {"zlib", Health::good, std::string(build.zlib), ""};
  return {"zlib", Health::absent, "not in this build",
          fmt::format("MNIST's files must be uncompressed with gunzip first ({})", build.why_no_zlib)};
}

}  // namespace

std::vector<Finding> check_toolchain() {
  return {
      compiler(),
      program("cmake", std::string(build_info().cmake), "nothing can be built here: apt-get install cmake"),
      program("ninja", "", "nothing can be built here: apt-get install ninja-build"),
      program("make", "", "release builds link on one core: apt-get install make"),
      program("ccache", "", "builds after `git switch` take longer: apt-get install ccache"),
      open_mpi(),
      onednn(),
      zlib()};
}

}  // namespace distlab
