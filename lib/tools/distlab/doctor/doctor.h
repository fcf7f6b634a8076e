// The checks of `distlab doctor`. They change nothing and are fast.
#pragma once

#include <string>
#include <vector>

namespace distlab {

enum class Health {
  good,    // present
  absent,  // missing, but distlab works without it; `cost` says what is lost
  bad,     // something will fail; `cost` says what, and how to fix it
};

struct Finding {
  std::string topic;  // "CUDA toolkit"
  Health health = Health::good;
  std::string found;  // "13.0, built in"
  std::string cost;   // what is lost, and how to fix it; empty when nothing is lost
};

struct Section {
  std::string title;  // "Toolchain"
  std::vector<Finding> findings;
};

std::vector<Finding> check_toolchain();  // compiler, CMake, libraries, MPI
std::vector<Finding> check_gpu();        // driver, GPUs, CUDA, cuDNN, NCCL
std::vector<Finding> check_machine();    // cores, memory, limits, what the kernel permits

}  // namespace distlab
