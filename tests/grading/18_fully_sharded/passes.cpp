// Lab 18, parts 3 and 4: forward and backward of a model; what they give, send, hold and take.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "dist/dist.h"

#include "support.h"

namespace lab18 {
namespace {

using judge::misconception;

struct Played {
  std::vector<Numbers> vectors;              // [rank]: input, or grad_output
  std::vector<std::vector<Numbers>> inputs;  // [rank][unit]: of backward
  int before = 0;                            // each element of the gradients, at the start of backward
  judge::SimRun done;
  std::vector<Json> replies;
};

struct Asked {
  std::vector<Numbers> vectors;
  std::vector<std::vector<Numbers>> inputs;
  int before = 0;
  std::vector<Json> tasks;
};
Asked ask(judge::Random& random, const Pass& pass) {
  Asked played;
  std::vector<Json>& tasks = played.tasks;
  const auto& units = pass.model.units;
  played.before = random.between(1, 9);
  const auto count = pass.is_forward() ? units.front()[0][1] : units.back()[0][0];
  for (int rank = 0; rank < pass.n; ++rank) {
    played.vectors.push_back(draw_numbers(random, count, 2));
    played.inputs.emplace_back();
    Json shards = Json::array();
    for (std::size_t unit = 0; !pass.is_large && unit < units.size(); ++unit) {
      played.inputs.back().push_back(draw_numbers(random, units[unit][0][1], 2));
      shards.push_back(right_shard(units[unit], rank, pass.n, [&](std::size_t parameter, std::int64_t at) {
        return pass.model.parameters[unit][parameter][static_cast<std::size_t>(at)];
      }));
    }
    tasks.push_back({{"call", pass.call},
                     {"shapes", units},
                     {"shards", shards},
                     {"inputs", played.inputs.back()},
                     {"seconds", pass.seconds},
                     {"large", pass.is_large},
                     {"is_after_forward", pass.is_after_forward},
                     {"before", played.before},
                     {"vector", played.vectors.back()}});
  }
  return played;
}
Played answer(const Asked& asked, bool timed) {
  Played played{asked.vectors, asked.inputs, asked.before, run(asked.tasks, timed), {}};
  played.replies = answers(played.done);
  return played;
}
Played play(judge::Random& random, const Pass& pass, bool timed) { return answer(ask(random, pass), timed); }

double weight(const Model& model, std::size_t unit, std::int64_t row, std::int64_t column) {
  return model.parameters[unit][0][static_cast<std::size_t>(row * model.units[unit][0][1] + column)];
}

Numbers output_of(const Model& model, Numbers x) {
  for (std::size_t unit = 0; unit < model.units.size(); ++unit) {
    Numbers y;
    for (std::int64_t row = 0; row < model.units[unit][0][0]; ++row) {
      y.push_back(model.parameters[unit][1][static_cast<std::size_t>(row)]);
      for (std::size_t column = 0; column < x.size(); ++column)
        y.back() += weight(model, unit, row, static_cast<std::int64_t>(column)) * x[column];
    }
    x = y;
  }
  return x;
}

// The grad_output of each unit of one rank.
std::vector<Numbers> grad_outputs(const Model& model, const Numbers& of_last) {
  std::vector<Numbers> grads(model.units.size());
  grads.back() = of_last;
  for (std::size_t unit = model.units.size() - 1; unit > 0; --unit) {
    grads[unit - 1].assign(static_cast<std::size_t>(model.units[unit][0][1]), 0);
    for (std::size_t row = 0; row < grads[unit].size(); ++row)
      for (std::size_t column = 0; column < grads[unit - 1].size(); ++column)
        grads[unit - 1][column] += grads[unit][row] * weight(model, unit, static_cast<std::int64_t>(row),
                                                             static_cast<std::int64_t>(column));
  }
  return grads;
}

// This rank's shard of the mean gradients of a unit; `grads` are those of all ranks: [rank][unit].
Numbers gradient_shard(const Pass& pass, const Played& played, const std::vector<std::vector<Numbers>>& grads,
                       std::size_t unit, int rank, double divisor) {
  const auto width = pass.model.units[unit][0][1];
  return right_shard(pass.model.units[unit], rank, pass.n, [&](std::size_t parameter, std::int64_t at) {
    double sum = 0;
    for (int other = 0; other < pass.n; ++other) {
      const Numbers& grad = grads[static_cast<std::size_t>(other)][unit];
      if (parameter == 0)
        sum += grad[static_cast<std::size_t>(at / width)] *
               played.inputs[static_cast<std::size_t>(other)][unit][static_cast<std::size_t>(at % width)];
      else
        sum += grad[static_cast<std::size_t>(at)];
    }
    return sum / divisor;
  });
}

std::string text_of(const Pass& pass) {
  return fmt::format("{}{}, {} units, {} ranks", pass.call, pass.is_after_forward ? " after forward" : "",
                     pass.model.units.size(), pass.n);
}

void diagnose_complaint(const std::string& complaint) {
  if (complaint.find("backward of unit") != std::string::npos)
    misconception("frees_before_backward_needs_it",
                  "backward was given parameters that are not whole: forward has given them up; fix: gather "
                  "each unit again before its backward");
  else if (complaint.find("parameters") != std::string::npos)
    misconception("computes_with_shards",
                  "a unit was given parameters that are not whole; fix: gather it before it computes");
}

bool order_is_right(const Pass& pass, const Json& reply, int rank) {
  std::vector<std::size_t> order;
  for (std::size_t unit = 0; unit < pass.model.units.size(); ++unit) order.push_back(unit);
  if (!pass.is_forward()) std::ranges::reverse(order);
  const std::string complaint = reply.at("complaint");
  if (reply.at("order") == Json(order) && complaint.empty()) return true;
  if (reply.at("order") != Json(order)) {
    Json reversed(std::vector<std::size_t>(order.rbegin(), order.rend()));
    if (reply.at("order") == reversed && order.size() > 1)
      misconception(
          "backward_in_the_order_of_forward",
          "backward begins with unit 0; fix: begin with the last unit, whose gradient the others need");
    ADD_FAILURE() << fmt::format("{}: rank {} must compute the units {}; it computed {}", text_of(pass), rank,
                                 Json(order).dump(), reply.at("order").dump());
  } else {
    diagnose_complaint(complaint);
    ADD_FAILURE() << fmt::format("{}: rank {}: {}", text_of(pass), rank, complaint);
  }
  return false;
}

bool forward_is_right(const Pass& pass, const Played& played, int rank) {
  const auto me = static_cast<std::size_t>(rank);
  const Numbers right = output_of(pass.model, played.vectors[me]);
  const Numbers got = played.replies[me].at("values").at(0);
  if (are_near(right, got)) return true;
  ADD_FAILURE() << fmt::format("{}: the output of rank {}: {}", text_of(pass), rank, difference(right, got));
  return false;
}

bool backward_is_right(const Pass& pass, const Played& played, int rank) {
  std::vector<std::vector<Numbers>> grads;
  for (const Numbers& vector : played.vectors) grads.push_back(grad_outputs(pass.model, vector));
  for (std::size_t unit = 0; unit < pass.model.units.size(); ++unit) {
    const Numbers got = played.replies[static_cast<std::size_t>(rank)].at("values").at(unit);
    const auto added = [&](double divisor) {
      Numbers gradient = gradient_shard(pass, played, grads, unit, rank, divisor);
      for (double& element : gradient) element += played.before;
      return gradient;
    };
    const Numbers right = added(pass.n);
    if (are_near(right, got)) continue;
    if (are_near(added(pass.n * pass.n), got))
      misconception("divides_twice",
                    "the gradients are divided by n twice; fix: ReduceOp::avg divides already");
    if (are_near(gradient_shard(pass, played, grads, unit, rank, pass.n), got))
      misconception(
          "overwrites_the_gradient",
          "the gradient of an earlier backward is lost; fix: add the mean to it, as backward accumulates");
    if (std::ranges::all_of(got, [&](double element) { return element == played.before; }))
      misconception("a_reduction_is_missing",
                    "the unit's gradient is as it was before; fix: start its reduction, and finish it");
    ADD_FAILURE() << fmt::format(
        "{}: on rank {} the mean over the ranks must be added to the gradient of unit {}, which was {}: {}",
        text_of(pass), rank, unit, played.before, difference(right, got));
    return false;
  }
  return true;
}

bool pass_is_right(const Pass& pass, const Played& played) {
  for (int rank = 0; rank < static_cast<int>(played.replies.size()); ++rank) {
    if (!order_is_right(pass, played.replies[static_cast<std::size_t>(rank)], rank)) return false;
    if (!(pass.is_forward() ? forward_is_right(pass, played, rank) : backward_is_right(pass, played, rank)))
      return false;
  }
  return !played.replies.empty();
}

bool calls_are_right(const Pass& pass, const judge::SimRun& done) {
  std::uint64_t bytes = 0;
  for (std::size_t unit = 0; unit < pass.model.units.size(); ++unit) bytes += pass.unit_bytes(unit);
  const auto units = pass.model.units.size();
  for (const std::string name : {all_gather, reduce_scatter}) {
    const std::uint64_t times = pass.is_forward() && name == reduce_scatter   ? 0
                                : pass.is_after_forward && name == all_gather ? 2
                                                                              : 1;
    const Traffic right{times * units, times * bytes}, got = traffic_of(done, 0, name);
    if (got.calls == right.calls && got.bytes == right.bytes) continue;
    if (pass.is_after_forward && name == all_gather && got.calls < right.calls)
      misconception(
          "keeps_a_unit_for_backward",
          "forward keeps parameters that backward takes; fix: give up each unit when it has computed, "
          "and gather it again in backward");
    else if (pass.prefetches() && name == all_gather && got.calls > right.calls &&
             got.calls <= right.calls + units)
      misconception("prefetches_the_wrong_neighbour",
                    "units that are not needed next are gathered in addition to the right ones; fix: "
                    "forward prefetches unit i + 1, backward unit i - 1");
    else if (got.calls == 2 * right.calls && got.bytes == right.bytes)
      misconception("a_collective_for_each_parameter",
                    "there are twice as many collectives as units; fix: one for the whole shard of a unit");
    else if (got.calls > right.calls && name == all_gather)
      misconception(
          "gathers_too_often",
          "a unit is gathered more than once in the same pass; fix: once, right before it computes");
    ADD_FAILURE() << fmt::format(
        "{}: rank 0 must call {} {} times, with {} bytes of all ranks in all; it called it {} times, with {} "
        "bytes",
        text_of(pass), name, right.calls, right.bytes, got.calls, got.bytes);
    return false;
  }
  return true;
}

// How long a collective of this unit takes if the ranks have nothing else to do.
double seconds_of(const Pass& pass, bool gathers) {
  dist::sim::RunOptions options;
  options.ranks = pass.n;
  options.topology = "10gbe";
  const auto shard = static_cast<std::int64_t>(pass.unit_bytes(0)) / 8 / pass.n;
  const auto seconds = [&](bool calls) {
    return judge::simulate_own(options,
                               [&](int) {
                                 dist::init_process_group();
                                 auto mine = dist::zeros({shard}, dist::DType::f64);
                                 auto all = dist::zeros({pass.n * shard}, dist::DType::f64);
                                 if (!calls) return;
                                 if (gathers)
                                   dist::all_gather_into_tensor(all, mine);
                                 else
                                   dist::reduce_scatter_tensor(mine, all, dist::ReduceOp::avg);
                               })
        .virtual_time_s;
  };
  return seconds(true) - seconds(false);
}

// When unit k (in the order of the pass) computes, the gathers of k units and of the next one have begun.
bool gathers_are_in_turn(const Pass& pass, const judge::SimRun& done) {
  std::vector<std::int64_t> computes, gathers;  // when they begin, on rank 0
  for (const auto& event : done.report.trace.events) {
    if (event.rank != 0) continue;
    if (event.kind == dist::trace::Kind::compute) computes.push_back(event.begin);
    if (event.kind == dist::trace::Kind::call && event.name == all_gather) gathers.push_back(event.begin);
  }
  std::ranges::sort(computes);
  for (std::size_t k = 0; k < computes.size(); ++k) {
    const auto begun = static_cast<std::size_t>(
        std::ranges::count_if(gathers, [&](std::int64_t begin) { return begin <= computes[k]; }));
    if (begun <= k + 2) continue;
    misconception("gathers_two_ahead",
                  "more than one gather is ahead of the computation, so more units are in memory than are "
                  "needed; fix: before a unit computes, start the gather of the next one, and no other");
    ADD_FAILURE() << fmt::format(
        "{}: when computation {} begins on rank 0, {} units have been gathered or are being gathered; it "
        "must be "
        "at most {}",
        text_of(pass), k, begun, k + 2);
    return false;
  }
  return true;
}

std::string in_us(double seconds) { return fmt::format("{:.0f} us", 1e6 * seconds); }

}  // namespace

std::uint64_t Pass::unit_bytes(std::size_t unit) const {
  return 8 * static_cast<std::uint64_t>(padded_elements(model.units[unit], n));
}

Model draw_model(judge::Random& random, const std::vector<std::int64_t>& widths, bool has_numbers) {
  Model model;
  for (std::size_t unit = 0; unit + 1 < widths.size(); ++unit) {
    model.units.push_back({{widths[unit + 1], widths[unit]}, {widths[unit + 1]}});
    if (!has_numbers) continue;
    model.parameters.emplace_back();
    for (const Shape& shape : model.units.back())
      model.parameters.back().push_back(draw_numbers(random, elements_of(shape), 1));
  }
  return model;
}

void expect_values(judge::Random& random, const Pass& pass) {
  Asked asked = ask(random, pass);
  const Played alone = answer(asked, false);
  if (!pass_is_right(pass, alone)) return;
  // Another model in the same process, with another number of units, of other widths.
  Pass other = pass;
  const std::size_t units = pass.model.units.size() == 1 ? 2 : pass.model.units.size() - 1;
  std::vector<std::int64_t> widths;
  while (widths.size() < units + 1) widths.push_back(random.between(pass.n, 9));
  other.model = draw_model(random, widths);
  const Asked before = ask(random, other);
  for (std::size_t rank = 0; rank < asked.tasks.size(); ++rank)
    asked.tasks[rank]["another"] = before.tasks[rank];
  const Played after = answer(asked, false);
  if (after.replies == alone.replies) return;
  misconception("remembers_the_call_before",
                "this is right alone, and another result after the same call with another model in the same "
                "process; fix: keep nothing between two calls (no static variables)");
  if (!after.replies.empty())
    ADD_FAILURE() << text_of(pass) << ": after another model in the same process, the results are others";
}

void expect_collectives(judge::Random& random, const Pass& pass) {
  const auto played = play(random, pass, false);
  if (pass_is_right(pass, played)) calls_are_right(pass, played.done);
}

void expect_memory(judge::Random& random, const Pass& pass) {
  const auto played = play(random, pass, false);
  if (!pass_is_right(pass, played)) return;
  const double unit = static_cast<double>(pass.unit_bytes(0)), n = pass.n;
  const double units = static_cast<double>(pass.model.units.size());
  // The shards and their gradients, and what the specification allows; half a unit for everything small.
  // A collective runs in the grader, whose copies count as the rank's: input and output, and the scratch of a
  // reduction.
  const double own = 2 * units * unit / n;
  // While a gather of `forward` runs, the rank has no whole unit; when it has a whole one, no gather runs.
  const double in_grader = (pass.call == "forward" ? 1 / n : pass.is_forward() ? 1 + 1 / n : 2) * unit;
  double allowed = pass.is_forward() ? 2 : 3 + 1 / n;
  if (pass.prefetches()) ++allowed;
  for (int rank = 0; rank < pass.n; ++rank) {
    const auto peak =
        static_cast<double>(played.done.report.peak_buffer_bytes[static_cast<std::size_t>(rank)]);
    const double held = (peak - own - in_grader) / unit;
    if (held <= allowed + 0.5) continue;
    if (pass.prefetches() && pass.is_forward())
      misconception(
          "gathers_everything_at_the_start",
          "the rank holds many units whole at the same time, as if nothing were sharded; fix: start "
          "the gather of the next unit only, and give up a unit when it has computed");
    else if (pass.is_forward())
      misconception(
          "keeps_the_parameters",
          "the units that have computed are still whole; fix: let their parameters go out of scope");
    else if (pass.prefetches() && held <= allowed + 1.5 + 1 / n)
      misconception(
          "two_reductions_in_flight",
          "more is held than the unit that computes, one gather and one reduction, as if two "
          "reductions were in flight; fix: finish the last reduction before you start the next one");
    else
      misconception(
          "keeps_full_gradients",
          "whole gradients or parameters of several units are held at the same time; fix: start the "
          "reduction of a unit right after its backward, finish it before the next reduction starts, and "
          "keep only this rank's shard");
    ADD_FAILURE() << fmt::format(
        "{}, each unit has {:.0f} bytes: in addition to its shards and their gradients ({:.0f} bytes) rank "
        "{} may "
        "hold {:.2f} units at the same time; it held about {:.2f}",
        text_of(pass), unit, own, rank, allowed, held);
    return;
  }
}

// When two models have equal units, the one with more of them may take more memory by its shards and their
// gradients only. That of a process is known to some MiB.
void expect_process_memory(judge::Random& random, const std::string& call) {
  constexpr int ranks = 2, few = 3, many = 8;
  constexpr std::int64_t width = 512;
  const auto peak_of = [&](int units) {
    const Pass pass{.call = call,
                    .model = draw_model(random, std::vector<std::int64_t>(units + 1, width), false),
                    .n = ranks,
                    .is_large = true};
    const auto played = play(random, pass, false);
    bool is_right = !played.replies.empty();
    for (int rank = 0; is_right && rank < ranks; ++rank)
      is_right = order_is_right(pass, played.replies[static_cast<std::size_t>(rank)], rank);
    if (!is_right || !calls_are_right(pass, played.done)) return 0.0;
    std::size_t most = 0;
    for (const auto& rank : played.done.ranks) most = std::max(most, rank.peak_memory_bytes);
    return static_cast<double>(most);
  };
  const double before = peak_of(few), after = before > 0 ? peak_of(many) : 0;
  if (after == 0) return;
  constexpr double mib = 1 << 20, unit = 8.0 * width * (width + 1), more = many - few;
  const double own = 2 * more * unit / ranks, took = after - before;
  if (took <= own + more * unit / 2) return;
  misconception(
      "keeps_whole_units_outside_of_tensors",
      "whole parameters or gradients stay in the process after their turn, where no tensor shows them: in a "
      "finished Work that is kept (a Work holds its tensors until it is destroyed), or in memory of your "
      "own; "
      "fix: keep the shards only, and let each Work and each whole unit go out of scope");
  ADD_FAILURE() << fmt::format(
      "{} of {} units takes {:.0f} MiB more of a process than of {} units, on {} ranks; the shards of these "
      "{:.0f} "
      "units and their gradients have {:.0f} MiB",
      call, many, took / mib, few, ranks, more, own / mib);
}

void expect_overlap(judge::Random& random, Pass pass, double share) {
  const double gather = seconds_of(pass, true), reduce = pass.is_forward() ? 0 : seconds_of(pass, false);
  pass.seconds = share * (gather + reduce);
  const auto played = play(random, pass, true);
  if (!pass_is_right(pass, played) || !calls_are_right(pass, played.done)) return;
  const double units = static_cast<double>(pass.model.units.size());
  for (int rank = 0; rank < pass.n; ++rank)
    if (!judge::has_computed(played.done, rank, units * pass.seconds)) return;
  if (!gathers_are_in_turn(pass, played.done)) return;
  const double perfect = gather + reduce + units * pass.seconds, took = played.done.report.virtual_time_s;
  if (took * 0.96 <= perfect) return;
  const double nothing_hidden = units * (gather + reduce + pass.seconds);
  if (took > 0.98 * nothing_hidden)
    misconception("hides_nothing",
                  "computation and communication take turns; fix: start the next gather before the unit "
                  "computes, and wait for it afterwards");
  else if (!pass.is_forward() && took > 0.9 * (nothing_hidden - (units - 1) * gather))
    misconception("waits_for_each_reduction",
                  "the reductions are not hidden; fix: finish the reduction of a unit when the next one has "
                  "computed");
  ADD_FAILURE() << fmt::format(
      "{}, each computes for {}, a gather takes {}{}: {} is possible, and {} is allowed; it took {}",
      text_of(pass), in_us(pass.seconds), in_us(gather),
      pass.is_forward() ? "" : fmt::format(", a reduction {}", in_us(reduce)), in_us(perfect),
      in_us(perfect / 0.96), in_us(took));
}

}  // namespace lab18
