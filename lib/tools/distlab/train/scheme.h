// Schemes: how ranks train one model together.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "dist/nn/module.h"

namespace distlab {

// What goes through forward and backward in place of the model.
class Scheme {
 public:
  virtual ~Scheme() = default;
  virtual dist::nn::Module& module() = 0;
  // Seconds that the last backward waited for other ranks, with nothing else to do.
  virtual double exposed() const = 0;
};

struct SchemeEntry {
  std::string_view name;
  bool one_rank;  // and no more
  std::unique_ptr<Scheme> (*make)(dist::nn::Module& model);
};

std::span<const SchemeEntry> schemes();
// Error{invalid_argument} when there is none.
const SchemeEntry& scheme_named(std::string_view name);

}  // namespace distlab
