// Wrong answers to lab 20, in the order of its parts: tests/README.md says how they are written.

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "pipeline_parallel.h"

namespace lab {

// step() with another way to send and to receive: send(tensor, peer, kind), receive(tensor, peer, kind).
template <class Send, class Receive>
double run_list(const std::vector<Action>& actions, const Batch& batch, const Stage& stage, const Send& send,
                const Receive& receive) {
  const int rank = dist::get_rank(), last = dist::get_world_size() - 1;
  const auto samples =
      static_cast<double>(std::accumulate(batch.samples.begin(), batch.samples.end(), std::int64_t{0}));
  double loss = 0;
  std::map<int, dist::Tensor> gradients;
  for (const auto& [kind, j] : actions) {
    const bool is_forward = kind == Kind::forward;
    const int before = is_forward ? rank - 1 : rank + 1, behind = is_forward ? rank + 1 : rank - 1;
    dist::Tensor in = is_forward ? dist::Tensor{} : gradients[j];
    if (is_forward && rank == 0) in = batch.inputs[static_cast<std::size_t>(j)];
    if (before >= 0 && before <= last) {
      in =
          dist::empty({batch.samples[static_cast<std::size_t>(j)], is_forward ? stage.inputs : stage.outputs},
                      dist::DType::f64);
      receive(in, before, kind);
    }
    const dist::Tensor out = is_forward ? stage.forward(j, in) : stage.backward(j, in);
    if (behind >= 0 && behind <= last) send(out, behind, kind);
    if (!is_forward || rank != last) continue;
    Loss of_micro_batch = stage.loss(j, out);
    loss += of_micro_batch.sum / samples;
    gradients[j] = of_micro_batch.gradient.div_(samples);
  }
  return loss;
}

}  // namespace lab

//// costs_are_floats
// Misconception: a cost is a rough number, so a float is enough to add them up.
// Replaces: cut
// Killed by: Part1Cut.the_costliest_stage_costs_least
// Diagnosis: rounds_the_costs

std::vector<int> cut(const std::vector<double>& costs, int stages) {
  const auto count = static_cast<std::size_t>(stages), layers = costs.size();
  std::vector worst(count + 1, std::vector<float>(layers + 1, std::numeric_limits<float>::infinity()));
  std::vector last(count + 1, std::vector<std::size_t>(layers + 1, 0));
  worst[0][0] = 0;
  for (std::size_t s = 1; s <= count; ++s) {
    for (std::size_t k = s; k <= layers; ++k) {
      float cost = 0;
      for (std::size_t n = 1; n <= k; ++n) {
        cost += static_cast<float>(costs[k - n]);
        const float costliest = std::max(worst[s - 1][k - n], cost);
        if (costliest < worst[s][k]) worst[s][k] = costliest, last[s][k] = n;
      }
    }
  }
  std::vector<int> sizes(count);
  for (std::size_t s = count, k = layers; s > 0; k -= last[s][k], --s)
    sizes[s - 1] = static_cast<int>(last[s][k]);
  return sizes;
}

//// costs_are_whole_numbers
// Misconception: costs count something, so whole numbers are enough. (They may be seconds.)
// Replaces: cut
// Killed by: Part1Cut.the_costliest_stage_costs_least
// Diagnosis: rounds_the_costs

std::vector<int> cut(const std::vector<double>& costs, int stages) {
  std::vector<double> whole;
  for (const double cost : costs) whole.push_back(static_cast<int>(cost));
  return right_cut(whole, stages);
}

//// drops_the_last_layers
// Misconception: layers / stages layers per stage; the division leaves no remainder.
// Replaces: cut
// Killed by: Part1Cut.every_layer_is_on_one_stage
// Diagnosis: loses_layers

std::vector<int> cut(const std::vector<double>& costs, int stages) {
  return std::vector<int>(static_cast<std::size_t>(stages), static_cast<int>(costs.size()) / stages);
}

//// equal_numbers_of_layers
// Misconception: stages with equally many layers take equally long.
// Replaces: cut
// Killed by: Part1Cut.the_costliest_stage_costs_least
// Diagnosis: counts_layers

std::vector<int> cut(const std::vector<double>& costs, int stages) {
  std::vector<int> sizes;
  const int layers = static_cast<int>(costs.size());
  for (int s = 0; s < stages; ++s) sizes.push_back((s + 1) * layers / stages - s * layers / stages);
  return sizes;
}

//// fills_up_to_the_average
// Misconception: a stage is full when it has its share of the total cost.
// Replaces: cut
// Killed by: Part1Cut.the_costliest_stage_costs_least
// Diagnosis: fills_one_stage_after_another

std::vector<int> cut(const std::vector<double>& costs, int stages) {
  const double average = std::accumulate(costs.begin(), costs.end(), 0.0) / stages;
  std::vector<int> sizes(1);
  double sum = 0;
  for (std::size_t layer = 0; layer < costs.size(); ++layer) {
    const int left = static_cast<int>(costs.size() - layer),
              missing = stages - static_cast<int>(sizes.size());
    if (sizes.back() > 0 && missing > 0 && (sum >= average || left <= missing)) sizes.push_back(0), sum = 0;
    ++sizes.back();
    sum += costs[layer];
  }
  return sizes;
}

//// counts_only_the_ranks_behind
// Misconception: rank i has p - i - 1 ranks behind it, so it is that many micro-batches ahead.
// Replaces: one_f_one_b
// Killed by: Part2Lists.one_f_one_b_in_flight
// Diagnosis: wrong_number_of_warm_up_steps

std::vector<Action> one_f_one_b(int rank, int ranks, int micro_batches) {
  std::vector<Action> list;
  int next = 0;
  for (; next < std::min(micro_batches, std::max(1, ranks - rank - 1)); ++next)
    list.push_back({Kind::forward, next});
  for (int j = 0; j < micro_batches; ++j) {
    list.push_back({Kind::backward, j});
    if (next < micro_batches) list.push_back({Kind::forward, next++});
  }
  return list;
}

//// flushes_after_each_micro_batch
// Misconception: one forward, one backward: on every rank, from the beginning.
// Replaces: one_f_one_b
// Killed by: Part2Lists.one_f_one_b_in_flight
// Diagnosis: flushes_after_each_micro_batch

std::vector<Action> one_f_one_b(int, int, int micro_batches) {
  std::vector<Action> list;
  for (int j = 0; j < micro_batches; ++j) list.insert(list.end(), {{Kind::forward, j}, {Kind::backward, j}});
  return list;
}

//// gpipe_flushes
// Misconception: a micro-batch is a small batch, and a batch is finished before the next one begins.
// Replaces: gpipe
// Killed by: Part2Lists.gpipe_in_order
// Diagnosis: flushes_after_each_micro_batch

std::vector<Action> gpipe(int, int, int micro_batches) {
  std::vector<Action> list;
  for (int j = 0; j < micro_batches; ++j) list.insert(list.end(), {{Kind::forward, j}, {Kind::backward, j}});
  return list;
}

//// last_backward_first
// Misconception: backward begins with the last one, so it begins with the last micro-batch.
// Replaces: gpipe
// Killed by: Part2Lists.gpipe_in_order
// Diagnosis: last_backward_first

std::vector<Action> gpipe(int rank, int ranks, int micro_batches) {
  auto list = right_gpipe(rank, ranks, micro_batches);
  std::reverse(list.begin() + micro_batches, list.end());
  return list;
}

//// more_forwards_than_micro_batches
// Misconception: there are always more micro-batches than ranks.
// Replaces: one_f_one_b
// Killed by: Part2Lists.fewer_micro_batches_than_ranks
// Diagnosis: more_forwards_than_micro_batches

std::vector<Action> one_f_one_b(int rank, int ranks, int micro_batches) {
  std::vector<Action> list;
  int next = 0;
  for (; next < ranks - rank; ++next) list.push_back({Kind::forward, next});
  for (int j = 0; j < micro_batches; ++j) {
    list.push_back({Kind::backward, j});
    if (next < micro_batches) list.push_back({Kind::forward, next++});
  }
  return list;
}

//// never_fewer_than_gpipe
// Misconception: all forwards must be over before the first backward.
// Replaces: one_f_one_b
// Killed by: Part2Lists.one_f_one_b_in_flight
// Diagnosis: wrong_number_of_warm_up_steps

std::vector<Action> one_f_one_b(int rank, int ranks, int micro_batches) {
  return gpipe(rank, ranks, micro_batches);
}

//// one_micro_batch_too_many
// Misconception: one more micro-batch in flight keeps every rank busy.
// Replaces: one_f_one_b
// Killed by: Part2Lists.one_f_one_b_in_flight
// Diagnosis: wrong_number_of_warm_up_steps

std::vector<Action> one_f_one_b(int rank, int ranks, int micro_batches) {
  std::vector<Action> list;
  int next = 0;
  for (; next < std::min(micro_batches, ranks - rank + 1); ++next) list.push_back({Kind::forward, next});
  for (int j = 0; j < micro_batches; ++j) {
    list.push_back({Kind::backward, j});
    if (next < micro_batches) list.push_back({Kind::forward, next++});
  }
  return list;
}

//// same_warm_up_on_all_ranks
// Misconception: the pipeline has p ranks, so every rank begins with p forwards.
// Replaces: one_f_one_b
// Killed by: Part2Lists.one_f_one_b_in_flight
// Diagnosis: wrong_number_of_warm_up_steps

std::vector<Action> one_f_one_b(int, int ranks, int micro_batches) {
  std::vector<Action> list;
  int next = 0;
  for (; next < std::min(micro_batches, ranks); ++next) list.push_back({Kind::forward, next});
  for (int j = 0; j < micro_batches; ++j) {
    list.push_back({Kind::backward, j});
    if (next < micro_batches) list.push_back({Kind::forward, next++});
  }
  return list;
}

//// a_batch_for_each_message
// Misconception: each message has its own call, and its own batch.
// Killed by: Part3Step.one_batch_between_computations
// Diagnosis: not_one_batch

namespace dist {

inline std::vector<Work> one_by_one(std::vector<P2P> messages) {
  std::vector<Work> works;
  for (auto& message : messages) works.push_back(batch_isend_irecv({message}).front());
  return works;
}

}  // namespace dist

#define batch_isend_irecv one_by_one
#include SOLUTION

//// a_message_for_each_sample
// Misconception: samples are independent of each other, so they travel one by one.
// Replaces: step
// Killed by: Part3Step.one_message_per_boundary
// Diagnosis: sends_too_much

double step(const std::vector<Action>& actions, const Batch& batch, const Stage& stage) {
  std::vector<std::pair<dist::Tensor, dist::Work>> sends;
  const double loss = run_list(
      actions, batch, stage,
      [&](const dist::Tensor& t, int peer, Kind) {
        for (std::int64_t i = 0; i < t.size(0); ++i) {
          const dist::Tensor row = t.narrow(i, 1);
          sends.emplace_back(row, dist::isend(row, peer));
        }
      },
      [](dist::Tensor& t, int peer, Kind) {
        for (std::int64_t i = 0; i < t.size(0); ++i) {
          dist::Tensor row = t.narrow(i, 1);
          dist::recv(row, peer);
        }
      });
  for (auto& [tensor, work] : sends) work.wait();
  return loss;
}

//// adds_up_the_steps
// Misconception: a program runs one step.
// Replaces: step
// Killed by: Part3Step.as_on_one_rank
// Diagnosis: remembers_the_step_before

double step(const std::vector<Action>& actions, const Batch& batch, const Stage& stage) {
  static double loss = 0;
  loss += right_step(actions, batch, stage);
  return loss;
}

//// broadcasts_the_loss
// Misconception: every rank must print the loss, so the last rank broadcasts it.
// Replaces: step
// Killed by: Part3Step.as_on_one_rank
// Diagnosis: none

double step(const std::vector<Action>& actions, const Batch& batch, const Stage& stage) {
  Tensor loss = dist::tensor({right_step(actions, batch, stage)});
  dist::broadcast(loss, dist::get_world_size() - 1);
  return dist::get_rank() + 1 == dist::get_world_size() ? loss.item<double>() : 0;
}

//// computes_beside_the_clock
// Misconception: a step is fast if its computations take no time: the function that tells the clock of them
// now returns at once.
// Replaces: step
// Killed by: Part3Step.the_bubble
// Diagnosis: none

#include <cstdint>

#include <sys/mman.h>

#include "dist/dist.h"
#include SOLUTION

double step(const std::vector<Action>& actions, const Batch& batch, const Stage& stage) {
  void (*const compute)(double) = &dist::sim::compute;
  const auto at = reinterpret_cast<std::uintptr_t>(compute);
  constexpr std::uintptr_t page = 4096;
  mprotect(reinterpret_cast<void*>(at / page * page), 2 * page, PROT_READ | PROT_WRITE | PROT_EXEC);
#ifdef __x86_64__
  *reinterpret_cast<volatile std::uint8_t*>(at) = 0xC3;  // ret
#elif defined(__aarch64__)
  *reinterpret_cast<volatile std::uint32_t*>(at) = 0xD65F03C0;
  __builtin___clear_cache(reinterpret_cast<char*>(at), reinterpret_cast<char*>(at) + 4);
#endif
  return right_step(actions, batch, stage);
}

//// counts_its_forwards
// Misconception: forwards run in the order of the micro-batches, in every list.
// Replaces: step
// Killed by: Part3Step.any_list
// Diagnosis: none

double step(const std::vector<Action>& actions, const Batch& batch, const Stage& stage) {
  Batch counted = batch;
  std::size_t forwards = 0;
  for (const auto& [kind, micro_batch] : actions) {
    if (kind != Kind::forward) continue;
    const auto j = static_cast<std::size_t>(micro_batch);
    counted.samples[j] = batch.samples[forwards];
    if (!batch.inputs.empty()) counted.inputs[j] = batch.inputs[forwards];
    ++forwards;
  }
  return right_step(actions, counted, stage);
}

//// divides_by_its_own_samples
// Misconception: the gradient of a micro-batch is divided by the samples of this micro-batch.
// Replaces: step
// Killed by: Part3Step.as_on_one_rank
// Diagnosis: divides_by_its_own_samples

double step(const std::vector<Action>& actions, const Batch& batch, const Stage& stage) {
  const auto samples =
      static_cast<double>(std::accumulate(batch.samples.begin(), batch.samples.end(), std::int64_t{0}));
  Stage wrong = stage;
  wrong.loss = [&](int j, const dist::Tensor& output) {
    Loss loss = stage.loss(j, output);
    loss.gradient.mul_(samples / static_cast<double>(batch.samples[static_cast<std::size_t>(j)]));
    return loss;
  };
  return right_step(actions, batch, wrong);
}

//// divides_the_loss_only
// Misconception: the loss is a mean when it is divided, and its gradients follow.
// Replaces: step
// Killed by: Part3Step.both_directions_at_once
// Diagnosis: sum_of_losses

double step(const std::vector<Action>& actions, const Batch& batch, const Stage& stage) {
  const auto samples =
      static_cast<double>(std::accumulate(batch.samples.begin(), batch.samples.end(), std::int64_t{0}));
  Stage wrong = stage;
  wrong.loss = [&](int j, const dist::Tensor& output) {
    Loss loss = stage.loss(j, output);
    loss.gradient.mul_(samples);
    return loss;
  };
  return right_step(actions, batch, wrong);
}

//// divides_whole_numbers
// Misconception: one divided by the number of samples is a number like any other. (Both are integers.)
// Replaces: step
// Killed by: Part3Step.as_on_one_rank
// Diagnosis: divides_whole_numbers

double step(const std::vector<Action>& actions, const Batch& batch, const Stage& stage) {
  const auto samples = std::accumulate(batch.samples.begin(), batch.samples.end(), std::int64_t{0});
  Stage wrong = stage;
  wrong.loss = [&](int j, const dist::Tensor& output) {
    Loss loss = stage.loss(j, output);
    const auto part = static_cast<double>(1 / samples);
    loss.sum *= part;
    loss.gradient.mul_(part);
    return loss;
  };
  return right_step(actions, batch, wrong);
}

//// first_loss_first
// Misconception: the gradients of the losses are used in the order in which they were computed. (The list may
// say otherwise.)
// Replaces: step
// Killed by: Part3Step.any_list
// Diagnosis: none

#include <deque>
#include SOLUTION

double step(const std::vector<Action>& actions, const Batch& batch, const Stage& stage) {
  std::deque<Tensor> gradients;
  Stage queued = stage;
  if (stage.loss) {
    queued.loss = [&](int j, const Tensor& output) {
      Loss loss = stage.loss(j, output);
      gradients.push_back(loss.gradient);
      return loss;
    };
    queued.backward = [&](int j, const Tensor&) {
      const Tensor first = gradients.front();
      gradients.pop_front();
      return stage.backward(j, first);
    };
  }
  return right_step(actions, batch, queued);
}

//// forgets_its_sends
// Misconception: a send that was started takes care of itself.
// Replaces: step
// Killed by: Part3Step.as_on_one_rank
// Diagnosis: forgets_a_wait

double step(const std::vector<Action>& actions, const Batch& batch, const Stage& stage) {
  return run_list(
      actions, batch, stage, [](const dist::Tensor& t, int peer, Kind) { dist::isend(t, peer); },
      [](dist::Tensor& t, int peer, Kind) { dist::recv(t, peer); });
}

//// gradient_of_another_micro_batch
// Misconception: what is sent is the gradient of the micro-batch that is behind in the pipeline.
// Replaces: step
// Killed by: Part3Step.as_on_one_rank
// Diagnosis: gradient_of_another_micro_batch

double step(const std::vector<Action>& actions, const Batch& batch, const Stage& stage) {
  Stage wrong = stage;
  dist::Tensor before;
  wrong.backward = [&](int j, const dist::Tensor& gradient) {
    const dist::Tensor now = stage.backward(j, gradient);
    const dist::Tensor sent = before.is_defined() ? before : now;
    before = now;
    return sent;
  };
  return right_step(actions, batch, wrong);
}

//// ignores_the_list
// Misconception: a step runs all forwards, then all backwards, whatever the list says.
// Replaces: step
// Killed by: Part3Step.both_directions_at_once
// Diagnosis: ignores_the_list

double step(const std::vector<Action>&, const Batch& batch, const Stage& stage) {
  const auto m = static_cast<int>(batch.samples.size());
  return right_step(gpipe(dist::get_rank(), dist::get_world_size(), m), batch, stage);
}

//// isend_and_irecv
// Misconception: a batch is a loop over isend and irecv.
// Killed by: Part3Step.one_batch_between_computations
// Diagnosis: not_one_batch

namespace dist {

inline std::vector<Work> one_by_one(std::vector<P2P> messages) {
  std::vector<Work> works;
  for (auto& message : messages)
    works.push_back(message.kind == P2P::isend ? isend(message.tensor, message.peer)
                                               : irecv(message.tensor, message.peer));
  return works;
}

}  // namespace dist

#define batch_isend_irecv one_by_one
#include SOLUTION

//// keeps_what_was_received
// Misconception: activations are needed in backward, so step keeps them, too. (Forward does, and only until
// then.)
// Replaces: step
// Killed by: Part3Step.memory_of_what_is_in_flight
// Diagnosis: keeps_more_than_is_in_flight

double step(const std::vector<Action>& actions, const Batch& batch, const Stage& stage) {
  std::vector<dist::Tensor> activations;
  Stage keeping = stage;
  keeping.forward = [&](int j, const dist::Tensor& input) {
    activations.push_back(input);
    return stage.forward(j, input);
  };
  return right_step(actions, batch, keeping);
}

//// keeps_what_was_sent
// Misconception: sends are waited for at the end, so their tensors are kept until then. (One for each
// micro-batch.)
// Killed by: Part3Step.memory_of_what_is_in_flight
// Diagnosis: keeps_more_than_is_in_flight

#define is_completed() source_rank() < -1
#include SOLUTION

//// mean_of_means
// Misconception: each micro-batch has a mean loss, and the loss of the batch is the mean of these.
// Replaces: step
// Killed by: Part3Step.uneven_micro_batches
// Diagnosis: mean_of_means

double step(const std::vector<Action>& actions, const Batch& batch, const Stage& stage) {
  const auto samples =
      static_cast<double>(std::accumulate(batch.samples.begin(), batch.samples.end(), std::int64_t{0}));
  Stage wrong = stage;
  wrong.loss = [&](int j, const dist::Tensor& output) {
    Loss loss = stage.loss(j, output);
    const double factor =
        samples / static_cast<double>(std::ssize(batch.samples) * batch.samples[static_cast<std::size_t>(j)]);
    loss.sum *= factor;
    loss.gradient.mul_(factor);
    return loss;
  };
  return right_step(actions, batch, wrong);
}

//// nan_where_there_is_no_loss
// Misconception: a rank that has no loss returns NaN, so that it is not taken for one.
// Replaces: step
// Killed by: Part3Step.as_on_one_rank
// Diagnosis: none

double step(const std::vector<Action>& actions, const Batch& batch, const Stage& stage) {
  const double loss = right_step(actions, batch, stage);
  return stage.loss ? loss : std::numeric_limits<double>::quiet_NaN();
}

//// one_inbox
// Misconception: a received activation is used at once, so one tensor is enough for all of them. (Forward
// keeps it for backward.)
// Replaces: step
// Killed by: Part3Step.as_on_one_rank
// Diagnosis: overwrites_what_forward_keeps

double step(const std::vector<Action>& actions, const Batch& batch, const Stage& stage) {
  const auto most = std::ranges::max(batch.samples);
  const dist::Tensor inbox = dist::empty({most, stage.inputs}, dist::DType::f64);
  std::vector<std::pair<dist::Tensor, dist::Work>> sends;
  const double loss = run_list(
      actions, batch, stage,
      [&](const dist::Tensor& t, int peer, Kind) { sends.emplace_back(t, dist::isend(t, peer)); },
      [&](dist::Tensor& t, int peer, Kind kind) {
        if (kind == Kind::forward) t = inbox.narrow(0, t.size(0));
        dist::recv(t, peer);
      });
  for (auto& [tensor, work] : sends) work.wait();
  return loss;
}

//// one_send_ahead
// Misconception: two tensors for what leaves are enough, so a rank waits for the send before the one that it
// has just started. (Its receiver may be several computations behind.)
// Killed by: Part3Step.a_send_delays_no_computation
// Diagnosis: waits_for_its_sends

#define emplace_back(tensor, work) \
  emplace_back(tensor, (sends.empty() ? void() : sends.back().second.wait(), work))
#include SOLUTION

//// only_the_last_micro_batch
// Misconception: the optimizer runs after the last micro-batch, so this is the one whose gradient counts.
// Replaces: step
// Killed by: Part3Step.as_on_one_rank
// Diagnosis: only_the_last_micro_batch

double step(const std::vector<Action>& actions, const Batch& batch, const Stage& stage) {
  const auto samples =
      static_cast<double>(std::accumulate(batch.samples.begin(), batch.samples.end(), std::int64_t{0}));
  Stage wrong = stage;
  wrong.loss = [&](int j, const dist::Tensor& output) {
    Loss loss = stage.loss(j, output);
    const double factor = samples > 0 && j + 1 < std::ssize(batch.samples) ? 0 : 1;
    loss.sum *= factor;
    loss.gradient.mul_(factor);
    return loss;
  };
  return right_step(actions, batch, wrong);
}

//// receives_everything_first
// Misconception: receives can wait, so all of them are started before the first computation.
// Replaces: step
// Killed by: Part3Step.one_batch_between_computations
// Diagnosis: starts_messages_early_or_late

double step(const std::vector<Action>& actions, const Batch& batch, const Stage& stage) {
  const int rank = dist::get_rank(), last = dist::get_world_size() - 1;
  std::vector<std::pair<dist::Tensor, dist::Work>> sends, arrivals;
  for (const auto& [kind, j] : actions) {
    const bool is_forward = kind == Kind::forward;
    if (rank == (is_forward ? 0 : last)) continue;
    dist::Tensor box =
        dist::empty({batch.samples[static_cast<std::size_t>(j)], is_forward ? stage.inputs : stage.outputs},
                    dist::DType::f64);
    arrivals.emplace_back(box, dist::irecv(box, is_forward ? rank - 1 : rank + 1));
  }
  std::size_t next = 0;
  const double loss = run_list(
      actions, batch, stage,
      [&](const dist::Tensor& t, int peer, Kind) { sends.emplace_back(t, dist::isend(t, peer)); },
      [&](dist::Tensor& t, int, Kind) {
        t = arrivals[next].first;
        arrivals[next++].second.wait();
      });
  for (auto& [tensor, work] : sends) work.wait();
  return loss;
}

//// receives_in_the_order_of_sending
// Misconception: a rank sends its result, then receives what it needs next; every send has its receive, so
// nothing can go wrong.
// Replaces: step
// Killed by: Part3Step.both_directions_at_once
// Diagnosis: sends_before_it_receives

double step(const std::vector<Action>& actions, const Batch& batch, const Stage& stage) {
  return run_list(
      actions, batch, stage, [](const dist::Tensor& t, int peer, Kind) { dist::send(t, peer); },
      [](dist::Tensor& t, int peer, Kind) { dist::recv(t, peer); });
}

//// remembers_the_first_batch
// Misconception: all batches have equally many samples, so they are counted once.
// Replaces: step
// Killed by: Part3Step.as_on_one_rank
// Diagnosis: remembers_the_step_before

double step(const std::vector<Action>& actions, const Batch& batch, const Stage& stage) {
  const auto samples =
      static_cast<double>(std::accumulate(batch.samples.begin(), batch.samples.end(), std::int64_t{0}));
  static const double of_the_first = samples;
  Stage wrong = stage;
  wrong.loss = [&](int j, const dist::Tensor& output) {
    Loss loss = stage.loss(j, output);
    loss.sum *= samples / of_the_first;
    loss.gradient.mul_(samples / of_the_first);
    return loss;
  };
  return right_step(actions, batch, wrong);
}

//// sends_after_all_forwards
// Misconception: first a rank computes, then it communicates.
// Replaces: step
// Killed by: Part3Step.the_bubble
// Diagnosis: computes_before_it_sends

double step(const std::vector<Action>& actions, const Batch& batch, const Stage& stage) {
  std::vector<dist::P2P> held;
  std::vector<dist::Work> works;
  const auto release = [&] {
    for (const dist::Work& work : dist::batch_isend_irecv(held)) works.push_back(work);
    held.clear();
  };
  const auto m = std::ssize(batch.samples);
  const double loss = run_list(
      actions, batch, stage,
      [&](const dist::Tensor& t, int peer, Kind kind) {
        held.push_back({dist::P2P::isend, t, peer});
        if (kind == Kind::backward || std::ssize(held) == m) release();
      },
      [](dist::Tensor& t, int peer, Kind) { dist::recv(t, peer); });
  for (auto& work : works) work.wait();
  return loss;
}

//// sends_in_floats
// Misconception: activations need only half the bytes, as in mixed precision.
// Replaces: step
// Killed by: Part3Step.as_on_one_rank
// Diagnosis: none

double step(const std::vector<Action>& actions, const Batch& batch, const Stage& stage) {
  Stage wrong = stage;
  wrong.forward = [&](int j, const dist::Tensor& input) {
    return stage.forward(j, input).to(dist::DType::f32).to(dist::DType::f64);
  };
  return right_step(actions, batch, wrong);
}

//// sums_the_losses
// Misconception: gradients of micro-batches add up, so nothing has to be divided.
// Replaces: step
// Killed by: Part3Step.as_on_one_rank
// Diagnosis: sum_of_losses

double step(const std::vector<Action>& actions, const Batch& batch, const Stage& stage) {
  const auto samples =
      static_cast<double>(std::accumulate(batch.samples.begin(), batch.samples.end(), std::int64_t{0}));
  Stage wrong = stage;
  wrong.loss = [&](int j, const dist::Tensor& output) {
    Loss loss = stage.loss(j, output);
    const double factor = samples;
    loss.sum *= factor;
    loss.gradient.mul_(factor);
    return loss;
  };
  return right_step(actions, batch, wrong);
}

//// the_last_result_stays
// Misconception: a result is sent when the next computation starts its messages. (After the last one, none
// does.)
// Replaces: step
// Killed by: Part3Step.as_on_one_rank
// Diagnosis: a_result_is_never_sent

double step(const std::vector<Action>& actions, const Batch& batch, const Stage& stage) {
  std::vector<dist::P2P> held;
  std::vector<std::pair<dist::Tensor, dist::Work>> works;
  const auto start = [&] {
    const auto started = dist::batch_isend_irecv(held);
    for (std::size_t i = 0; i < started.size(); ++i) works.emplace_back(held[i].tensor, started[i]);
    held.clear();
  };
  const double loss = run_list(
      actions, batch, stage,
      [&](const dist::Tensor& t, int peer, Kind) {
        if (!held.empty()) start();
        held.push_back({dist::P2P::isend, t, peer});
      },
      [&](dist::Tensor& t, int peer, Kind) {
        held.push_back({dist::P2P::irecv, t, peer});
        start();
        works.back().second.wait();
      });
  for (auto& [tensor, work] : works) work.wait();
  return loss;
}

//// waits_for_each_send
// Misconception: a message has been sent when its send has been waited for, so each of them is waited for at
// once. (The receiver may be busy.)
// Killed by: Part3Step.a_send_delays_no_computation
// Diagnosis: waits_for_its_sends

#define emplace_back(tensor, work) emplace_back(tensor, (dist::Work(work).wait(), work))
#include SOLUTION
