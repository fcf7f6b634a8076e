// Nodes that come and go: distruns with --nnodes least:most, that meet on loopback.
#pragma once

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dist/core/deadline.h"

#include "distrun/machine.h"
#include "distrun_shell.h"

namespace dist_test {

using Words = std::vector<std::string>;

inline dist::Deadline soon() { return dist::Deadline::after(std::chrono::seconds(20)); }

inline void sleep_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

inline Words operator+(Words a, const Words& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// A program that says its size, and stays until it is told to end or there are three ranks.
inline const std::string stays =
    "echo rank $RANK of $WORLD_SIZE, attempt $TORCHELASTIC_RESTART_COUNT; trap 'exit 0' TERM; "
    "[ $WORLD_SIZE = 3 ] && exit 0; sleep 60 & wait";
// Says so in the first attempt; what follows is done there only.
inline const std::string once = "[ $TORCHELASTIC_RESTART_COUNT = 0 ] || exit 0; echo ready; ";

class Elastic : public testing::Test {
 protected:
  ~Elastic() override { std::filesystem::remove_all(folder_); }
  Words node(const std::string& nodes, const Words& more = {}, const std::string& script = stays) const {
    return Words{DISTRUN, "--nnodes", nodes, "--rdzv-endpoint", endpoint_} + more + Words{"sh", "-c", script};
  }
  // A name that ranks use as a signal: [ -e NAME ].
  std::string file(const std::string& name) const { return folder_ + "/" + name; }
  std::string until(const std::string& name) const {
    return fmt::format("until [ -e {} ]; do sleep 0.02; done; ", file(name));
  }
  void touch(const std::string& name) const { std::ofstream(file(name)).flush(); }

  const std::string folder_ = temporary_folder();
  const std::string endpoint_ = fmt::format("127.0.0.1:{}", distrun::free_port());
  const Words soon_enough{"--rdzv-conf", "last_call_timeout=0"};
  const Words host{"--rdzv-conf", "is_host=1"}, guest{"--rdzv-conf", "is_host=0"};
};

}  // namespace dist_test
