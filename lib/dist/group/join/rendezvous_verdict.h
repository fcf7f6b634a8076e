// What the ranks of one joining wait for. Every rank claims its number and states its world size; a rank that
// sees a contradiction, sees its time run out, knows of a rank that cannot come any more, or completes the
// number of ranks, proposes a verdict. The first verdict stands.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dist/core/error.h"
#include "dist/group/join/rendezvous.h"
#include "dist/store/store.h"

namespace dist {

inline constexpr const char* verdict_key = "verdict";
inline constexpr const char* world_size_key = "world_size";
inline constexpr const char* joined_key = "joined";  // counts the ranks that have done both

// "ok <token> <host of rank 0> <host of rank 1> ...", or the number of an Errc and what happened.
struct Verdict {
  std::string text;

  static Verdict good(const std::string& token, const std::vector<int>& hosts);
  static Verdict bad(Errc code, const std::string& why);

  // Returns the verdict that holds at this meeting place afterwards.
  Verdict propose(Store& place) const;
  void read_into(Job& job) const;  // throws a bad verdict
};

// The world size that was stated first, and by which rank: "4 0".
struct StatedSize {
  int world_size = 0, by = 0;
  static StatedSize parse(const std::string& text);
  std::string text() const;
};

// The verdict when a rank will not come to the joining of `job` at this place because it has ended before.
// Called by ranks that join, after they have stated the world size, and by launchers, after they have noted
// an end: so one of the two knows of both.
std::optional<Verdict> without_those_who_ended(Store& base, Store& place, const Job& job);

}  // namespace dist
