#include "dist/direct/algorithms.h"

#include <vector>

#include "dist/core/fail.h"
#include "dist/direct/on_rounds.h"

namespace dist {
namespace {

DirectFunction named(const AlgorithmEntry& entry) {
  if (const auto* const body = on_rounds::find_body<DirectCall>(entry.collective, entry.name))
    return body->run;
  fail(Errc::internal, "{} by {} has no body in direct/on_rounds.h", name(entry.collective), entry.name);
}

// The functions in the order of algorithms(): every call looks one up by its position.
std::vector<DirectFunction> in_order() {
  std::vector<DirectFunction> all;
  for (const AlgorithmEntry& entry : algorithms()) all.push_back(entry.direct ? named(entry) : nullptr);
  return all;
}

}  // namespace

DirectFunction direct_function(const AlgorithmEntry& entry) {
  static const std::vector<DirectFunction> all = in_order();
  return all.at(static_cast<std::size_t>(&entry - algorithms().data()));
}

}  // namespace dist
