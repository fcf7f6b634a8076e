// Globals: notices ranks that change what processes would have one each of: global and static variables.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "dist/sim/variables.h"

namespace dist::sim {

// Compares the program's variables with a copy of them whenever a rank gives way: what differs, that rank has
// changed. Of each variable its first 8 KiB are compared, and less where they are more than 64 KiB in all:
// that costs a switch 2 us. A few hundred bytes, which programs usually have, cost 10 ns.
//
// Not noticed: what a variable points to (the elements of a std::vector, but that it has grown), a change
// that is undone before the rank gives way, or that changes nothing (rank 0 sets to 0 what was 0), the first
// value of a static variable in a function, thread_local variables, those of libraries, and all in a program
// without a symbol table, or under ThreadSanitizer. What other threads change meanwhile is taken for the
// running rank's.
class Globals {
 public:
  Globals();
  // A rank is about to give way.
  void look(int rank);
  // Who is about to give way is no rank: what differs is not told.
  void refresh();
  // A message has been written there for a rank, which need not be the running one.
  void received(int rank, const std::byte* data, std::size_t bytes);
  // A line for each variable that ranks changed: "ranks 0, 1 change the global variable 'me': ...".
  std::vector<std::string> notes() const;

 private:
  struct Range {  // of variables that lie close together
    const std::byte* at;
    std::size_t bytes;
    std::size_t copy;  // begins there
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
