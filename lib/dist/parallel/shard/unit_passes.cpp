#include "dist/parallel/shard/unit_passes.h"

#include <algorithm>

#include "dist/parallel/shard/sharded_unit.h"

namespace dist {

void UnitOrder::begin() {
  came_.clear();
  next_ = 0, is_as_expected_ = true;
}

// After a unit that was skipped, the order goes on; one that was not expected at all comes in between.
bool UnitOrder::arrives(ShardedUnit& unit) {
  came_.push_back(&unit);
  const auto from = expected_.begin() + static_cast<std::ptrdiff_t>(next_);
  const auto at = std::find(from, expected_.end(), &unit);
  const bool is_expected = at == from && at != expected_.end();
  if (at != expected_.end()) next_ = static_cast<std::size_t>(at - expected_.begin()) + 1;
  is_as_expected_ = is_as_expected_ && is_expected;
  return is_expected;
}

bool UnitOrder::end() {
  if (came_ == expected_) return false;
  expected_ = came_;
  return true;
}

void UnitOrder::abandon() {
  if (!is_as_expected_) expected_.clear();
}

void UnitPasses::remove(const ShardedUnit& unit) {
  if (outermost_ == &unit) abandon(unit);
  std::erase(units_, &unit);
  for (ShardedUnit* const each : units_) each->orders() = {};
}

void UnitPasses::begin(ShardedUnit& unit, Pass pass) {
  if (pass_ != Pass::none) return;
  pass_ = pass, outermost_ = &unit;
  order().begin();
  ended_.clear();
}

UnitOrder& UnitPasses::order() {
  auto& [forward, backward, parameter_grads] = outermost_->orders();
  return pass_ == Pass::forward ? forward : pass_ == Pass::backward ? backward : parameter_grads;
}

// Backward usually comes in the reverse of the order in which forwards have ended.
void UnitPasses::end(ShardedUnit& unit, bool is_last) {
  ended_.push_back(&unit);
  if (outermost_ != &unit) return;
  for (ShardedUnit* const each : units_) each->values().drop_gather();
  reductions.finish();
  if (pass_ != Pass::forward && is_root(unit)) {
    for (ShardedUnit* const each : units_) {
      if (pass_ == Pass::backward) each->values().release();
      if (is_last) each->gradients().catch_up(reductions);
    }
    reductions.finish();
  }
  if (order().end() && pass_ == Pass::forward) {
    std::ranges::reverse(ended_);
    unit.orders().backward.expect(ended_);
  }
  pass_ = Pass::none, outermost_ = nullptr;
}

void UnitPasses::abandon(const ShardedUnit& unit) noexcept {
  if (outermost_ != &unit) return;
  order().abandon();
  unit.give_up_step();
  pass_ = Pass::none, outermost_ = nullptr;
}

}  // namespace dist
