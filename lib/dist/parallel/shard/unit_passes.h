// UnitPasses: what the units of one model share. A pass is one forward() or backward() of the outermost unit
// that it goes through, or one run_parameter_grads(). The order in which its units need their parameters is
// what the next one expects, and gathers ahead by.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "dist/parallel/shard/unit_gradients.h"

namespace dist {

class ShardedUnit;

// The order in which units need their parameters in a pass.
class UnitOrder {
 public:
  void expect(std::vector<ShardedUnit*> units) { expected_ = std::move(units); }
  void begin();
  // A unit needs its parameters now. False if another one was expected, or none.
  bool arrives(ShardedUnit& unit);
  // The unit that is expected next, or null.
  ShardedUnit* next() const { return next_ < expected_.size() ? expected_[next_] : nullptr; }
  // From now on, what came is what is expected. Returns whether that has changed.
  bool end();
  void abandon();  // the pass has failed: forgets what was learned in it

 private:
  std::vector<ShardedUnit*> expected_, came_;
  std::size_t next_ = 0;
  bool is_as_expected_ = true;
};

class UnitPasses {
 public:
  enum class Pass : std::uint8_t { none, forward, backward, parameter_grads };

  // The root is the unit around all others.
  explicit UnitPasses(const ShardedUnit& root) : root_(&root) {}
  void add(ShardedUnit& unit) { units_.push_back(&unit); }
  void remove(const ShardedUnit& unit);
  bool is_root(const ShardedUnit& unit) const { return root_ == &unit; }

  Pass pass() const { return pass_; }
  // A forward() or backward() of the unit begins: where no pass is under way, it is one.
  void begin(ShardedUnit& unit, Pass pass);
  UnitOrder& order();  // of the units in this pass
  // The forward() or backward() of the unit ends. If it was the pass, neither a gather nor a reduction is
  // under way afterwards. `is_last`: this backward() leaves no gradient to be computed later.
  void end(ShardedUnit& unit, bool is_last = true);
  void abandon(const ShardedUnit& unit) noexcept;  // by an error

  Reductions reductions;

 private:
  const ShardedUnit* root_;
  std::vector<ShardedUnit*> units_;
  Pass pass_ = Pass::none;
  ShardedUnit* outermost_ = nullptr;  // whose forward() or backward() is the pass
  std::vector<ShardedUnit*> ended_;   // in the order in which their forward() has ended in it
};

}  // namespace dist
