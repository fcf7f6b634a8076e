// Choices: everything that a real run leaves open, and one of the possible schedules. Exploration runs a
// program under many of them.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace dist::sim {

enum class ChoicePoint : std::uint8_t {
  send_mode,     // 0: waits for its receiver, 1: eager
  any_sender,    // which sender a receive from any source matches
  is_completed,  // 0: the truth, 1: not yet
  store,         // 0: at once, 1: others come first
  buffers,       // 0: the network reads early and writes late, 1: the reverse
};

// The choices of one run. Each is made by a seeded generator, or read from a list; after the end of the list
// it is 0.
class Choices {
 public:
  // "17" is a seed; "=0.2.1" is a list, which must not be empty. Throws Error{invalid_argument} for other
  // texts.
  explicit Choices(const std::string& schedule);
  explicit Choices(std::vector<int> list) : list_(std::move(list)) {}

  // One of 0 to n-1. With a list, all sends of a run have one mode, and so do all buffers.
  int choose(ChoicePoint point, int n);

  // The choices so far, each with its number of options; this list reproduces the run.
  struct Taken {
    int choice, of;
  };
  const std::vector<Taken>& taken() const { return taken_; }
  std::string str() const;  // "=0.2.1"

 private:
  int next(int n);
  bool at_random_ = false;
  std::mt19937_64 random_;
  std::vector<int> list_;
  std::vector<Taken> taken_;
  int send_mode_ = -1, buffers_ = -1;  // the run's; -1: not chosen yet
};

}  // namespace dist::sim
