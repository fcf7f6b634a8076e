// Contributors: which ranks' parts are in one rank's memory while a collective runs. Sums, copies and
// messages pass them on, so that a picture can show when a sum is complete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace dist::trace {

// A set of ranks below 64: bit r is rank r.
using RankSet = std::uint64_t;

class Contributors {
 public:
  explicit Contributors(RankSet own) : own_(own) {}

  // The contributors to all bytes of [begin, begin + bytes) together; bytes that were never set are the
  // rank's own.
  RankSet of(const void* begin, std::size_t bytes) const;
  void set(const void* begin, std::size_t bytes, RankSet ranks);
  void add(const void* to, const void* from, std::size_t bytes) {
    set(to, bytes, of(to, bytes) | of(from, bytes));
  }
  void copy(const void* to, const void* from, std::size_t bytes) { set(to, bytes, of(from, bytes)); }
  void forget(const void* begin, std::size_t bytes);

 private:
  struct Part {
    const std::byte* end;
    RankSet ranks;
  };
  const RankSet own_;
  std::map<const std::byte*, Part> parts_;  // by begin; they do not overlap
};

}  // namespace dist::trace
