// Legend: the signs that a diagram uses, and what they mean.
#pragma once

#include <string>

#include "drawing/diagram.h"
#include "drawing/glyphs.h"

namespace dist::trace {

class Legend {
 public:
  Legend(const Glyphs& glyphs, bool fractions) : glyphs_(glyphs), fractions_(fractions) {}

  void add(const Mark& mark);
  void add_state(const Event& wait_or_computation);
  // Returns lines of at most `width` columns, each ended by '\n', with the signs that were added.
  std::string str(int width) const;

 private:
  const Glyphs& glyphs_;
  const bool fractions_;  // whether large sets of ranks are shown as 4/8
  bool calls_ = false, departures_ = false, arrows_ = false, arrivals_ = false, reductions_ = false;
  bool contributors_ = false, waits_ = false, computes_ = false, losses_ = false, shared_ = false;
};

}  // namespace dist::trace
