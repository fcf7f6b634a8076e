// Lab 20, part 3: steps on ranks of the grader's simulation.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "judge/numbers.h"
#include "support.h"

namespace lab20 {
namespace {

using judge::misconception;

// The numbers of one step. A rank gets its own weight, the first one the inputs, and the last one the
// targets.
struct Problem {
  Step step;
  std::vector<Matrix> weights, inputs, targets;  // [stage], [micro-batch], [micro-batch]
};
// What a run's processes do, one step after the other, and their tasks.
struct Drawn {
  std::vector<Problem> problems;
  std::vector<Json> tasks;
};

Size size_of(const Step& step) { return {step.ranks, static_cast<int>(step.samples.size())}; }

Json as_json(const List& list) {
  Json actions = Json::array();
  for (const auto& [is_forward, j] : list) actions.push_back({is_forward ? "F" : "B", j});
  return actions;
}

// 31 bits each: they are not the numbers of a float.
Matrix draw_matrix(judge::Random& random, std::size_t rows, std::size_t columns) {
  Matrix drawn{rows, columns, {}};
  constexpr int one = 1 << 30;
  for (std::size_t i = 0; i < rows * columns; ++i)
    drawn.at.push_back(static_cast<double>(random.between(-one, one)) / one);
  return drawn;
}

Problem draw_problem(judge::Random& random, const Step& step) {
  Problem problem{step, {}, {}, {}};
  std::vector<std::size_t> widths;
  for (int i = 0; i <= step.ranks; ++i)
    widths.push_back(step.width > 0 ? step.width : static_cast<std::size_t>(random.between(2, 5)));
  for (std::size_t i = 0; i + 1 < widths.size(); ++i)
    problem.weights.push_back(draw_matrix(random, widths[i], widths[i + 1]));
  for (const std::size_t rows : step.samples) {
    problem.inputs.push_back(draw_matrix(random, rows, widths.front()));
    problem.targets.push_back(draw_matrix(random, rows, widths.back()));
  }
  return problem;
}

Json numbers_of(const std::vector<Matrix>& matrices, bool are_told) {
  Json numbers = Json::array();
  for (const Matrix& matrix : matrices)
    if (are_told) numbers.push_back(matrix.at);
  return numbers;
}

Json task_of(const Problem& problem, int rank) {
  const Step& step = problem.step;
  const Matrix& weight = problem.weights[static_cast<std::size_t>(rank)];
  const auto of = [&](const std::vector<Seconds>& seconds) {
    return seconds.empty() ? Seconds(step.samples.size()) : seconds[static_cast<std::size_t>(rank)];
  };
  return {{"inputs", weight.rows},
          {"outputs", weight.columns},
          {"weight", weight.at},
          {"batch", numbers_of(problem.inputs, rank == 0)},
          {"targets", numbers_of(problem.targets, rank + 1 == step.ranks)},
          {"samples", step.samples},
          {"forward_s", of(step.forward_s)},
          {"backward_s", of(step.backward_s)},
          {"list", as_json(right_list(step.kind, rank, size_of(step)))}};
}

Drawn steps_of(const std::vector<Problem>& problems) {
  Drawn drawn{problems, {}};
  for (int rank = 0; rank < problems.front().step.ranks; ++rank) {
    drawn.tasks.push_back({{"call", "step"}});
    for (const Problem& problem : problems) drawn.tasks.back()["steps"].push_back(task_of(problem, rank));
  }
  return drawn;
}
Drawn draw(judge::Random& random, const Step& step) { return steps_of({draw_problem(random, step)}); }

judge::SimRun run(const Drawn& drawn, const Step& step) {
  judge::SimPlan plan;
  plan.tasks = drawn.tasks;
  plan.topology = "rounds";
  plan.trace = true;
  plan.eager = step.eager;
  plan.about = fmt::format("{} on {} ranks, {} micro-batches, {} sends", step.kind, step.ranks,
                           step.samples.size(), step.eager ? "eager" : "rendezvous");
  return judge::simulate(plan);
}

bool is_send(const dist::check::Party& party) {
  return party.doing.starts_with("send") || party.doing.starts_with("isend");
}

void diagnose_deadlock(const dist::check::Finding& finding) {
  const auto& waiting = finding.parties;
  const auto cycle = dist::check::find_cycle(waiting);
  const auto waits = [&](int rank) {
    return std::ranges::any_of(waiting, [&](const auto& party) { return party.rank == rank; });
  };
  const auto in_cycle = [&](const auto& party) { return std::ranges::count(cycle, party.rank) > 0; };
  if (!cycle.empty() &&
      std::ranges::all_of(waiting, [&](const auto& party) { return !in_cycle(party) || is_send(party); })) {
    misconception(
        "sends_before_it_receives",
        "two neighbours send to each other, and each waits until the other one receives; fix: start "
        "the send and the receive that lie between two computations with one batch_isend_irecv");
    return;
  }
  for (const auto& party : waiting) {
    if (party.waits_for.size() != 1 || waits(party.waits_for[0])) continue;
    const int gone = party.waits_for[0];
    if (is_send(party))
      misconception("sends_too_much",
                    fmt::format("rank {} sends a message to rank {}, whose step() has returned without "
                                "receiving it; fix: one message per micro-batch, boundary and direction",
                                party.rank, gone));
    else
      misconception(
          "a_result_is_never_sent",
          fmt::format("rank {} waits for a result of rank {}, whose step() has returned without "
                      "sending it; fix: after the last computation, too, start what is left to send",
                      party.rank, gone));
  }
}

void diagnose(const dist::check::Finding& finding) {
  using dist::check::Code;
  if (finding.code == Code::deadlock)
    diagnose_deadlock(finding);
  else if (finding.code == Code::never_waited)
    misconception("forgets_a_wait",
                  "a message was never waited for; fix: keep the Work of every send, and wait "
                  "for all of them before step() returns");
  else if (finding.code == Code::read_before_wait || finding.code == Code::changed_before_wait)
    misconception(
        "touched_before_waiting",
        "a tensor was used while its message was in flight; fix: wait for the receive first, and do "
        "not change what was sent");
  else if (finding.code == Code::never_received)
    misconception("sends_too_much",
                  "a message was sent that no rank receives; fix: one message per micro-batch, boundary and "
                  "direction");
}

std::vector<Json> answers(const judge::SimRun& done) {
  for (const auto& finding : done.report.findings) diagnose(finding);
  return done.answers();
}

// What one rank would compute: the sum of the losses and the gradients of this sum, of each micro-batch.
struct OneRank {
  std::vector<double> losses;                   // [micro-batch]
  std::vector<std::vector<Numbers>> gradients;  // [micro-batch][stage]
};
OneRank on_one_rank(const Problem& problem) {
  OneRank all;
  const auto stages = problem.weights.size();
  for (std::size_t j = 0; j < problem.inputs.size(); ++j) {
    std::vector<Matrix> inputs{problem.inputs[j]};
    for (const Matrix& weight : problem.weights) inputs.push_back(inputs.back() * weight);
    Matrix gradient;
    all.losses.push_back(squared_loss(inputs[stages], problem.targets[j], gradient));
    all.gradients.emplace_back(stages);
    for (std::size_t i = stages; i-- > 0;) {
      all.gradients[j][i] = (inputs[i].transposed() * gradient).at;
      gradient = gradient * problem.weights[i].transposed();
    }
  }
  return all;
}

bool is_near(double right, double got) { return std::abs(right - got) <= 1e-9 * (1 + std::abs(right)); }
bool are_near(const Numbers& right, const Numbers& got) { return std::ranges::equal(right, got, is_near); }

// Each micro-batch with its weight.
Numbers gradient_of(const OneRank& one, std::size_t stage, const Numbers& weights) {
  Numbers sum(one.gradients[0][stage].size());
  for (std::size_t j = 0; j < weights.size(); ++j)
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += weights[j] * one.gradients[j][stage][k];
  return sum;
}
double loss_of(const OneRank& one, const Numbers& weights) {
  return std::inner_product(weights.begin(), weights.end(), one.losses.begin(), 0.0);
}

Numbers right_weights(const Step& step) {
  const auto samples = std::accumulate(step.samples.begin(), step.samples.end(), std::size_t{0});
  return Numbers(step.samples.size(), 1 / static_cast<double>(samples));
}

void diagnose(const OneRank& one, const Step& step, const Numbers& last_gradient, double loss) {
  const auto last = static_cast<std::size_t>(step.ranks) - 1;
  const auto m = step.samples.size();
  const bool gradient_is_right = are_near(gradient_of(one, last, right_weights(step)), last_gradient);
  const auto fits = [&](const Numbers& weights) {
    return !gradient_is_right && are_near(gradient_of(one, last, weights), last_gradient);
  };
  const bool loss_is_right = is_near(loss_of(one, right_weights(step)), loss);
  const auto gives = [&](const Numbers& weights) {
    return !loss_is_right && is_near(loss_of(one, weights), loss);
  };
  Numbers means, own, last_only(m);
  for (const std::size_t count : step.samples) {
    means.push_back(1 / static_cast<double>(m * count));
    own.push_back(1 / static_cast<double>(count));
  }
  last_only.back() = right_weights(step).back();
  const Numbers none(m, 0);
  if (fits(none) || gives(none)) {
    misconception(
        "divides_whole_numbers",
        "it is 0, as after a division of whole numbers: 1 / samples is 0 when both are integers; fix: "
        "divide by a double");
  } else if (fits(own) || gives(own)) {
    misconception(
        "divides_by_its_own_samples",
        "each micro-batch was divided by its own number of samples; fix: divide by the number of ALL "
        "samples");
  } else if (fits(means) || gives(means)) {
    misconception(
        "mean_of_means",
        "this is the mean of the micro-batches' means, in which a sample of a small micro-batch counts "
        "more; fix: divide each sum by the number of ALL samples");
  } else if (fits(Numbers(m, 1)) || gives(Numbers(m, 1))) {
    misconception("sum_of_losses",
                  "this is the sum over the samples; fix: divide by the number of all samples");
  } else if (fits(last_only)) {
    misconception("only_the_last_micro_batch",
                  "only the last micro-batch has changed the gradients; fix: run backward for every "
                  "micro-batch, with the gradient of its own loss");
  }
}

// Where two gradients differ first.
std::string difference(const Numbers& right, const Numbers& got) {
  if (right.size() != got.size())
    return fmt::format("the weight's gradient must have {} elements and has {}", right.size(), got.size());
  const auto [wanted, found] = std::ranges::mismatch(right, got, is_near);
  if (wanted == right.end()) return "the weight's gradient is right";
  std::size_t wrong = 0;
  for (std::size_t k = 0; k < right.size(); ++k) wrong += !is_near(right[k], got[k]);
  return fmt::format("element {} of the weight's gradient must be {} and is {} ({} of {} elements differ)",
                     wanted - right.begin(), *wanted, *found, wrong, right.size());
}

void diagnose_complaint(const std::string& complaint) {
  if (complaint.find("overwritten") != std::string::npos)
    misconception("overwrites_what_forward_keeps",
                  "forward keeps the tensor that it was given until backward has run, and something was "
                  "written into it; fix: receive each activation into a tensor of its own");
}

bool step_is_right(const Problem& problem, const std::string& which, const std::vector<Json>& replies) {
  const Step& step = problem.step;
  const OneRank one = on_one_rank(problem);
  const auto stages = static_cast<std::size_t>(step.ranks);
  const Numbers weights = right_weights(step);
  const std::string about =
      fmt::format("{}{} on {} ranks, {} micro-batches", which, step.kind, step.ranks, step.samples.size());
  for (std::size_t i = 0; i < stages; ++i) {
    const std::string complaint = replies[i].at("complaint");
    if (!complaint.empty()) {
      diagnose_complaint(complaint);
      ADD_FAILURE() << fmt::format("{}, rank {}: {}", about, i, complaint);
      return false;
    }
    const Json list = as_json(right_list(step.kind, static_cast<int>(i), size_of(step)));
    if (replies[i].at("order") == list) continue;
    misconception("ignores_the_list",
                  "the computations did not run in the order of the list; fix: step() goes through `actions` "
                  "and knows no schedule of its own");
    ADD_FAILURE() << fmt::format("{}, rank {}: the list is {}; it computed {}", about, i, list.dump(),
                                 replies[i].at("order").dump());
    return false;
  }
  const double loss = judge::real(replies.back().at("loss"));
  const Numbers last = replies.back().at("gradient");
  for (std::size_t i = stages; i-- > 0;) {
    const double right_loss = i + 1 == stages ? loss_of(one, weights) : 0;
    const Numbers right = gradient_of(one, i, weights), got = replies[i].at("gradient");
    const double got_loss = judge::real(replies[i].at("loss"));
    if (is_near(right_loss, got_loss) && are_near(right, got)) continue;
    if (i + 1 == stages)
      diagnose(one, step, last, loss);
    else if (!are_near(right, got))
      misconception("gradient_of_another_micro_batch",
                    "the gradients of the last rank are right, those of a rank before it are not: what it "
                    "received belongs to another micro-batch; fix: send the result of the backward that has "
                    "just run");
    const std::string of_loss = is_near(right_loss, got_loss)
                                    ? "the loss is right"
                                    : fmt::format("the loss must be {} and is {}", right_loss, got_loss);
    ADD_FAILURE() << fmt::format("{}, rank {}: {}; {}", about, i, of_loss, difference(right, got));
    return false;
  }
  return true;
}

bool is_right(const Drawn& drawn, const std::vector<Json>& replies) {
  if (replies.empty()) return false;
  for (std::size_t k = 0; k < drawn.problems.size(); ++k) {
    std::vector<Json> of_step;
    for (const Json& reply : replies) of_step.push_back(reply.at("steps").at(k));
    const std::string which =
        drawn.problems.size() == 1 ? "" : fmt::format("step {} of {}, ", k + 1, drawn.problems.size());
    if (step_is_right(drawn.problems[k], which, of_step)) continue;
    if (k > 0)  // it is right alone
      misconception(
          "remembers_the_step_before",
          "this step is right alone, and wrong after another one in the same process; fix: keep nothing "
          "between two calls (no static variables)");
    return false;
  }
  return true;
}

// A step in virtual time; 0, and the test has failed, if it is wrong.
double time_of(judge::Random& random, const Step& step) {
  const auto drawn = draw(random, step);
  const auto done = run(drawn, step);
  if (!is_right(drawn, answers(done))) return 0;
  for (int rank = 0; rank < step.ranks; ++rank) {
    const Seconds &forward = step.forward_s[static_cast<std::size_t>(rank)],
                  &backward = step.backward_s[static_cast<std::size_t>(rank)];
    const double computes = std::accumulate(forward.begin(), forward.end(),
                                            std::accumulate(backward.begin(), backward.end(), 0.0));
    if (!judge::has_computed(done, rank, computes)) return 0;
  }
  return done.report.virtual_time_s;
}

// Each computation begins when the one before it has ended and its input is there.
double least_time_of_gpipe(const Step& step) {
  const auto ranks = static_cast<std::size_t>(step.ranks);
  Seconds ends(ranks);  // of each rank's last computation so far
  for (std::size_t j = 0; j < step.samples.size(); ++j)
    for (std::size_t i = 0; i < ranks; ++i)
      ends[i] = std::max(ends[i], i > 0 ? ends[i - 1] : 0) + step.forward_s[i][j];
  for (std::size_t j = 0; j < step.samples.size(); ++j)
    for (std::size_t i = ranks; i-- > 0;)
      ends[i] = std::max(ends[i], i + 1 < ranks ? ends[i + 1] : 0) + step.backward_s[i][j];
  return *std::ranges::max_element(ends);
}

}  // namespace

void expect_step(judge::Random& random, const Step& step) {
  const auto drawn = draw(random, step);
  is_right(drawn, answers(run(drawn, step)));
}

void expect_second_step(judge::Random& random, const Step& step) {
  const auto alone = draw(random, step);
  if (!is_right(alone, answers(run(alone, step)))) return;
  // The step before has other numbers, another list and one more micro-batch.
  Step before = step;
  before.samples.insert(before.samples.begin(), static_cast<std::size_t>(random.between(1, 6)));
  const Drawn both = steps_of({draw_problem(random, before), alone.problems.front()});
  is_right(both, answers(run(both, step)));
}

void expect_messages(judge::Random& random, const Step& step) {
  const auto drawn = draw(random, step);
  const auto done = run(drawn, step);
  if (!is_right(drawn, answers(done))) return;
  for (int rank = 0; rank < step.ranks; ++rank) {
    const bool has_next = rank + 1 < step.ranks, has_previous = rank > 0;
    const auto right = step.samples.size() * (static_cast<std::size_t>(has_next) + has_previous);
    const auto sent = done.report.traffic[static_cast<std::size_t>(rank)].messages_sent;
    if (sent == right) continue;
    misconception("sends_too_much",
                  "more messages were sent than results that a neighbour needs; fix: one message per "
                  "micro-batch, boundary and direction; the first rank sends no gradient, the last one no "
                  "activation");
    ADD_FAILURE() << fmt::format("rank {} of {}, {} micro-batches: it must send {} messages; it sent {}",
                                 rank, step.ranks, step.samples.size(), right, sent);
    return;
  }
}

// Before each computation one batch may start messages: the result of the one before, and what it needs.
void expect_one_batch(judge::Random& random, const Step& step) {
  const auto drawn = draw(random, step);
  const auto replies = answers(run(drawn, step));
  if (!is_right(drawn, replies)) return;
  for (std::size_t rank = 0; rank < replies.size(); ++rank) {
    const bool has_next = rank + 1 < replies.size(), has_previous = rank > 0;
    const auto list = right_list(step.kind, static_cast<int>(rank), size_of(step));
    std::vector<std::pair<int, int>> right(list.size() + 1), got(right.size());  // sends and receives
    std::vector<int> starts(right.size()), batches(right.size());
    for (std::size_t k = 0; k < list.size(); ++k) {
      right[k].second += list[k].is_forward ? has_previous : has_next;
      right[k + 1].first += list[k].is_forward ? has_next : has_previous;
    }
    for (const auto& start : replies[rank].value("starts", Json::array())) {
      const std::size_t place = start.at(0);
      ++starts.at(place);
      batches.at(place) += start.at(1).get<bool>();
      got.at(place).first += start.at(2).get<int>();
      got.at(place).second += start.at(3).get<int>();
    }
    for (std::size_t k = 0; k < right.size(); ++k) {
      const int one = right[k] == std::pair(0, 0) ? 0 : 1;
      if (got[k] == right[k] && starts[k] == one && batches[k] == one) continue;
      if (got[k] != right[k])
        misconception("starts_messages_early_or_late",
                      "messages were started before or after their turn; fix: before each computation start "
                      "the result of the one before, and the receive that this computation needs");
      else
        misconception("not_one_batch",
                      "the messages between two computations were started by several calls, or not by "
                      "batch_isend_irecv; fix: give it both of them at once");
      ADD_FAILURE() << fmt::format(
          "{} on {} ranks, rank {}, after {}: {} and {} must be started by {}; {} and {} were started, by {} "
          "of batch_isend_irecv and {}",
          step.kind, step.ranks, rank, dist::counted(static_cast<int>(k), "computation"),
          dist::counted(right[k].first, "send"), dist::counted(right[k].second, "receive"),
          one == 1 ? "one batch_isend_irecv" : "no call", dist::counted(got[k].first, "send"),
          dist::counted(got[k].second, "receive"), dist::counted(batches[k], "call"),
          dist::counted(starts[k] - batches[k], "other"));
      return;
    }
  }
}

// In 1F1B, at most w = min(m, p - i) micro-batches are in flight: their inputs are kept, and at most as many
// results are on their way. Six more for the computation itself and the messages beside it.
void expect_memory(judge::Random& random, Step step) {
  const double seconds = 1e-3 * random.between(10, 20);
  step.forward_s.assign(static_cast<std::size_t>(step.ranks), Seconds(step.samples.size(), seconds));
  step.backward_s.assign(static_cast<std::size_t>(step.ranks), Seconds(step.samples.size(), 2 * seconds));
  const auto drawn = draw(random, step);
  const auto done = run(drawn, step);
  if (!is_right(drawn, answers(done))) return;
  const double unit = 8.0 * static_cast<double>(step.samples.front() * step.width);
  const auto m = static_cast<int>(step.samples.size());
  for (int rank = 0; rank < step.ranks; ++rank) {
    const int in_flight = std::min(m, step.ranks - rank), allowed = 2 * in_flight + 6;
    const auto peak = static_cast<double>(done.report.peak_buffer_bytes[static_cast<std::size_t>(rank)]);
    const double held = peak / unit - (rank == 0 ? m : 0);  // rank 0 has the batch
    if (held <= allowed) continue;
    misconception(
        "keeps_more_than_is_in_flight",
        "the memory grows with the number of micro-batches, so 1F1B saves nothing; fix: allocate a receive's "
        "tensor when its turn comes, and give up a sent one when its Work is_completed()");
    ADD_FAILURE() << fmt::format(
        "{} on {} ranks, {} micro-batches of {:.0f} bytes: rank {} has at most {} in flight and may hold the "
        "memory of {}; it held that of {:.1f}",
        step.kind, step.ranks, m, unit, rank, in_flight, allowed, held);
    return;
  }
}

void expect_bubble(judge::Random& random, Step step) {
  const double forward_s = 1e-3 * random.between(10, 20), backward_s = 2 * forward_s;
  step.forward_s.assign(static_cast<std::size_t>(step.ranks), Seconds(step.samples.size(), forward_s));
  step.backward_s.assign(static_cast<std::size_t>(step.ranks), Seconds(step.samples.size(), backward_s));
  const auto m = static_cast<double>(step.samples.size());
  const double right = (m + step.ranks - 1) * (forward_s + backward_s), took = time_of(random, step);
  if (took <= 1.01 * right) return;
  misconception(
      "computes_before_it_sends",
      "ranks wait longer than the schedule demands: a result was not on its way when its computation "
      "had ended, or a rank waited for a message that it did not need yet; fix: start the send "
      "directly after its computation, and wait only for the receive that comes next");
  ADD_FAILURE() << fmt::format(
      "{} on {} ranks, {} micro-batches: a step must take {:.3f} s; it took {:.3f} s", step.kind, step.ranks,
      m, right, took);
}

// Rank 0 has sent all results but the last while rank 1 is still busy with the first ones, and the last one
// takes long: it is there in time only if rank 0 has begun it before rank 1 has taken the others. The same
// backwards, from the last rank.
void expect_no_wait_for_sends(judge::Random& random, Step step) {
  const double unit = 1e-3 * random.between(10, 20);
  const auto m = static_cast<double>(step.samples.size());
  Seconds ahead(step.samples.size(), unit);
  ahead.back() = (2 * m - 1) * unit;
  step.forward_s.assign(static_cast<std::size_t>(step.ranks), Seconds(step.samples.size(), 3 * unit));
  step.backward_s = step.forward_s;
  step.forward_s.front() = step.backward_s.back() = ahead;
  const double right = least_time_of_gpipe(step), took = time_of(random, step);
  if (took <= 1.01 * right) return;
  misconception("waits_for_its_sends",
                "a rank waited for a send, whose receiver was still busy, before its next computation; fix: "
                "keep the Work of each send, and wait for them after the last computation");
  ADD_FAILURE() << fmt::format(
      "{} on {} ranks, {} micro-batches, rank 0 is ahead of rank 1 in forward and rank {} of rank {} in "
      "backward: a step must take {:.3f} s; it took {:.3f} s",
      step.kind, step.ranks, m, step.ranks - 1, step.ranks - 2, right, took);
}

}  // namespace lab20
