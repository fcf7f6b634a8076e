// Scene 1: every rank sends rank 0 one line about itself.
#include <array>
#include <cstdio>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

#include "dist/dist.h"

#include "distlab/demo/demo.h"

namespace distlab::demo {
namespace {

std::string host() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

}  // namespace

void introduce_ranks() {
  dist::spawn(ranks, [](int) {
    dist::init_process_group();
    const auto line =
        fmt::format("I am rank {} of {}: process {} on {}, device {}, backend {}", dist::get_rank(),
                    dist::get_world_size(), getpid(), host(), dist::get_device().str(), dist::get_backend());
    for (const auto& said : dist::gather_object(line, 0)) fmt::print("   {}\n", said);
    std::fflush(stdout);
    dist::destroy_process_group();
  });
}

}  // namespace distlab::demo
