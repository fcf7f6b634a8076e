// Choices: what a real run leaves open, and one of its possible schedules. Exploration runs a program under
// many of them.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace dist::sim {

enum class ChoicePoint : std::uint8_t {
  send_mode,     // 0: waits for its receiver, 1: eager
  any_sender,    // which sender a receive from any source meets
  is_completed,  // 0: says what is so, 1: not yet
  store,         // 0: at once, 1: others come first
  buffers,       // 0: the network reads early and writes late, 1: the other way round
};

// One run's. Each choice is made by a generator that a number seeds, or read from a list and 0 beyond its
// end.
class Choices {
 public:
  // "17": the number; "=0.2.1": the list, which must not be empty. Error{invalid_argument} for other texts.
  explicit Choices(const std::string& schedule);
  explicit Choices(std::vector<int> list) : list_(std::move(list)) {}

  // One of 0 to n-1. With a list, sends are of one mode throughout a run, and so are buffers.
  int choose(ChoicePoint point, int n);

  // What was chosen so far, of how many; such a list gives the same run again.
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
  int send_mode_ = -1, buffers_ = -1;  // of the run; -1: not chosen yet
};

}  // namespace dist::sim
