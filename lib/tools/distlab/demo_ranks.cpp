// Scene 1: who is there? Everybody tells rank 0 one line about itself.
#include <array>
#include <cstdio>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

#include "dist/core/device.h"
#include "dist/dist.h"

#include "distlab/demo.h"

namespace distlab::demo {
namespace {

// One GPU each where there are enough; ranks share them where there are fewer; none: the CPU.
dist::Device device_of(int local_rank) {
  try {
    const int gpus = dist::device_api(dist::DeviceType::cuda).count();
    return gpus > 0 ? dist::cuda(local_rank % gpus) : dist::cpu;
  } catch (const dist::Error&) {
    return dist::cpu;
  }
}

std::string host() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

}  // namespace

void introduce_ranks() {
  dist::spawn(ranks, [](int) {
    dist::init_process_group();
    const auto line = fmt::format("I am rank {} of {}: process {} on {}, device {}, backend {}",
                                  dist::get_rank(), dist::get_world_size(), getpid(), host(),
                                  device_of(dist::get_local_rank()).str(), dist::get_backend());
    for (const auto& said : dist::gather_object(line, 0)) fmt::print("   {}\n", said);
    std::fflush(stdout);
    dist::destroy_process_group();
  });
}

}  // namespace distlab::demo
