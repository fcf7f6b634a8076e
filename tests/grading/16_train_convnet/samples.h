// Lab 16: the samples of a run, which are the grader's, and who has read them.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "judge/hidden.h"
#include "support.h"
#include "world.h"

namespace lab16 {

class Samples {
 public:
  using Draw = std::function<Json(Which which, std::int64_t index)>;

  // sizes: of the training samples, and of the test samples. `reads_to_live`: training samples that a rank
  // may read before it is killed; -1: never.
  Samples(int ranks, std::pair<std::int64_t, std::int64_t> sizes, Draw draw, std::int64_t reads_to_live)
      : reads_{std::vector<Reads>(static_cast<std::size_t>(ranks)),
               std::vector<Reads>(static_cast<std::size_t>(ranks))},
        sizes_(sizes),
        draw_(std::move(draw)),
        reads_to_live_(reads_to_live) {}

  Json piece(int rank, const judge::Request& request) {
    const auto which = request.of == static_cast<std::int64_t>(Which::test) ? Which::test : Which::train;
    const auto size = which == Which::train ? sizes_.first : sizes_.second;
    if (request.index < 0 || request.index >= size) return nullptr;
    Reads& reads = reads_[static_cast<std::size_t>(which)][static_cast<std::size_t>(rank)];
    if (which == Which::train && std::ssize(reads) == reads_to_live_) return "killed";
    reads.push_back(request.index);
    auto [known, is_new] = drawn_.try_emplace({which, request.index});
    if (is_new) known->second = draw_(which, request.index);
    return known->second;
  }
  // [rank]
  const std::vector<Reads>& reads(Which which) const { return reads_[static_cast<std::size_t>(which)]; }

 private:
  std::vector<Reads> reads_[2];
  const std::pair<std::int64_t, std::int64_t> sizes_;
  const Draw draw_;
  const std::int64_t reads_to_live_;
  std::map<std::pair<Which, std::int64_t>, Json> drawn_;
};

}  // namespace lab16
