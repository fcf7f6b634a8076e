#include "dist/parallel/pipeline/costs.h"

#include <algorithm>

#include "dist/parallel/pipeline/rounds.h"

namespace dist::pipeline {

std::vector<Peak> peaks(const Schedule& schedule) {
  std::vector<Peak> all;
  for (const auto& actions : schedule.ranks) {
    Peak now, peak;
    for (const Action& action : actions) {
      if (action.kind == ActionKind::forward) ++now.in_flight, ++now.held;
      if (is_backward(action.kind)) --now.in_flight;
      if (action.kind == ActionKind::backward || action.kind == ActionKind::backward_weight) --now.held;
      peak = {std::max(peak.in_flight, now.in_flight), std::max(peak.held, now.held)};
    }
    all.push_back(peak);
  }
  return all;
}

Peak peak_formula(Kind kind, const Shape& shape, int rank) {
  const auto [p, m, v] = shape;
  const int in_flight_1f1b = std::min(m, p - rank);
  switch (kind) {
    case Kind::gpipe: return {m, m};
    case Kind::one_f_one_b: return {in_flight_1f1b, in_flight_1f1b};
    case Kind::zb_h1: return {in_flight_1f1b, std::min(m, p)};
    case Kind::interleaved: {
      const int most = v == 1 ? in_flight_1f1b : std::min(m * v, warm_up(shape, rank) + 1);
      return {most, most};
    }
  }
  __builtin_unreachable();
}

double idle_formula(Kind kind, const Shape& shape, const StageTimes& times) {
  const auto [p, m, v] = shape;
  switch (kind) {
    case Kind::gpipe:
    case Kind::one_f_one_b: return (p - 1) * times.all();
    case Kind::interleaved: return (m >= p ? p - 1 : p * v + m - 1 - m * v) * times.all();
    case Kind::zb_h1:
      return (p - 1) * (times.forward + times.backward_input) -
             (std::min(m, p) - 1) * std::min({times.forward, times.backward_input, times.backward_weight});
  }
  __builtin_unreachable();
}

double bubble_formula(Kind kind, const Shape& shape, const StageTimes& times) {
  const double idle = idle_formula(kind, shape, times);
  const double busy = shape.micro_batches * shape.chunks * times.all();
  return idle + busy > 0 ? idle / (idle + busy) : 0;
}

std::string_view bubble_text(Kind kind, const Shape& shape) {
  const bool fills = shape.micro_batches >= shape.ranks;
  switch (kind) {
    case Kind::gpipe:
    case Kind::one_f_one_b: return "(p-1) / (m+p-1)";
    case Kind::interleaved: return fills || shape.chunks == 1 ? "(p-1) / (mv+p-1)" : "(pv+m-1-mv) / (pv+m-1)";
    case Kind::zb_h1:
      return fills ? "idle (p-1)(F+B_in-min(F,B_in,B_w))" : "idle (p-1)(F+B_in)-(m-1)min(F,B_in,B_w)";
  }
  __builtin_unreachable();
}

std::string_view in_flight_text(Kind kind, const Shape& shape) {
  switch (kind) {
    case Kind::gpipe: return "m";
    case Kind::one_f_one_b:
    case Kind::zb_h1: return "min(m, p-i)";
    case Kind::interleaved: return shape.chunks == 1 ? "min(m, p-i)" : "min(mv, (v-1)s + 2(p-1-i) + 1)";
  }
  __builtin_unreachable();
}

}  // namespace dist::pipeline
