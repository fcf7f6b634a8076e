// Globals: notices ranks that change what each process would have for itself: global and static variables.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "dist/sim/variables.h"

namespace dist::sim {

// Compares the program's variables with a copy whenever a rank gives way: a difference is that rank's change.
// It compares the first 8 KiB of each variable, or less if that is more than 64 KiB in all; at that size a
// switch costs 2 us more. A few hundred bytes, as programs usually have, cost 10 ns.
//
// Not noticed: what a variable points to (the elements of a std::vector, but that it has grown); a change
// that is undone before the rank gives way, or that changes nothing (rank 0 sets to 0 what was 0); the first
// value of a static variable in a function; thread_local variables; those of libraries; and anything in a
// program without a symbol table, or under ThreadSanitizer. What other threads change in the meantime counts
// as the running rank's.
class Globals {
 public:
  Globals();
  // To be called when a rank is about to give way.
  void look(int rank);
  // To be called when something that is not a rank gives way: differences are not reported.
  void refresh();
  // A message has been written there for `rank`, which need not be the running one.
  void received(int rank, const std::byte* data, std::size_t bytes);
  // One line per variable that ranks changed: "ranks 0, 1 change the global variable 'me': ...".
  std::vector<std::string> notes() const;

 private:
  struct Range {  // variables that are close together
    const std::byte* at;
    std::size_t bytes;
    std::size_t copy;  // begins there in copies_
    const std::byte* end() const { return at + bytes; }
  };
  struct Watched {
    const Variable* variable;
    std::size_t bytes;
    std::size_t copy;
    std::set<int> ranks;
  };
  void watch(const Variable& variable, std::size_t bytes);
  void compare(Watched& watched, int rank) const;
  bool is_initialised(const Variable& variable) const;

  std::vector<Range> ranges_;     // by address
  std::vector<Watched> watched_;  // by address
  std::vector<std::byte> copies_;
};

}  // namespace dist::sim
