// What the ranks that take a step together tell each other: at its beginning, before anything else moves,
// whether each can take its batch, and how many targets count; at its end, whether each has come to it, and
// the loss. So a step has three ends, and every rank has the same one: it is taken, it is refused before
// anything moved, or it has failed.
#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <map>
#include <string>
#include <vector>

#include "dist/core/call_site.h"
#include "dist/parallel/pipeline/pipeline.h"

namespace dist::pipeline {

// What this rank knows of the batch; Agreement::begin() returns what all of them know.
struct BatchFacts {
  std::string refusal = {};      // why this rank cannot take it; empty: it can
  std::int64_t counted = 0;      // this rank's targets that count; all
  std::int64_t rows = 0;         // on the rank that tells the others
  bool has_new_shape = false;    // apart from the number of rows it is not like the batch before
  bool trains_others = false;    // parameters were frozen or unfrozen since the step before
  std::uint32_t key = 0;         // equal on the ranks of same_batch
  std::string description = {};  // for messages: "inputs [8, 8]"
  std::string why_equal = {};    // for messages: "they must have the same number of rows"
};

// Two all_reduces of seven numbers each per step; with one rank none. (The first is not hidden behind a
// computation, since nothing may move before a batch is refused.) Texts are exchanged only when something is
// wrong, or other parameters are trained than before.
class Agreement {
 public:
  // `ranks` with its group and its same_batch.
  explicit Agreement(StepRanks ranks);

  // Throws on every rank Error{invalid_argument} if one of them refuses, if ranks that need the same batch
  // have different ones, or if no target counts; and Error{mismatch} if the ranks are not at the same step.
  BatchFacts begin(const BatchFacts& own, bool trains, CallSite at);
  // After the stages have been asked for the shapes of their results: refuses the batch on every rank.
  void agree_on_shapes(const std::string& refusal);
  // If other parameters are trained: throws Error{mismatch} on every rank, which names one, if ranks that
  // have it do not agree on it. `trained`: this rank's, "transformer.h.0.ln_1.weight of stage 0", and
  // whether.
  void agree_on_trained(const std::map<std::string, bool>& trained);
  // The sum of all losses. After an error of this rank, rethrows it; after one of another rank throws
  // Error{aborted}, which quotes it.
  double end(double loss, const std::exception_ptr& error);

  // The tag of this step's messages. It is another one after a step that was left while messages were under
  // way, so that no receive takes an old message.
  std::uint64_t tag() const { return tag_; }
  std::string call() const;  // "step at train.cpp:41"

 private:
  enum class Phase : std::uint8_t { begin, shapes, end };
  template <class T>
  std::array<T, 7> sum(Phase phase, std::array<T, 7> own);
  std::uint32_t place(Phase phase) const;
  [[noreturn]] void fail_apart(Phase phase);
  [[noreturn]] void fail_refused(const std::string& own);
  [[noreturn]] void fail_different(const BatchFacts& own);

  const StepRanks ranks_;
  const int rank_, size_;      // in its group
  const std::uint64_t model_;  // its number there
  std::int64_t number_ = 0;    // of steps and evaluations
  std::uint64_t tag_ = 0;
  bool is_open_ = false;  // a step has begun and not ended
  bool trains_ = true;
  CallSite at_;  // of the call that begins the step
};

}  // namespace dist::pipeline
