// Lab 20, one good solution. NOTES.md says why it is written this way.
#include "pipeline_parallel.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

namespace lab {

using dist::Tensor;

std::vector<int> cut(const std::vector<double>& costs, int stages) {
  // worst[s][k]: the cost of the costliest of s stages that have the first k layers, in the best cut; the
  // last of these stages has last[s][k] layers.
  const auto count = static_cast<std::size_t>(stages), layers = costs.size();
  constexpr double none = std::numeric_limits<double>::infinity();
  std::vector worst(count + 1, std::vector<double>(layers + 1, none));
  std::vector last(count + 1, std::vector<std::size_t>(layers + 1, 0));
  worst[0][0] = 0;
  for (std::size_t s = 1; s <= count; ++s) {
    for (std::size_t k = s; k <= layers; ++k) {
      double cost = 0;
      for (std::size_t n = 1; n <= k; ++n) {
        cost += costs[k - n];
        const double costliest = std::max(worst[s - 1][k - n], cost);
        if (costliest < worst[s][k]) worst[s][k] = costliest, last[s][k] = n;
      }
    }
  }
  std::vector<int> sizes(count);
  for (std::size_t s = count, k = layers; s > 0; k -= last[s][k], --s)
    sizes[s - 1] = static_cast<int>(last[s][k]);
  return sizes;
}

std::vector<Action> gpipe(int, int, int micro_batches) {
  std::vector<Action> list;
  for (int j = 0; j < micro_batches; ++j) list.push_back({Kind::forward, j});
  for (int j = 0; j < micro_batches; ++j) list.push_back({Kind::backward, j});
  return list;
}

std::vector<Action> one_f_one_b(int rank, int ranks, int micro_batches) {
  std::vector<Action> list;
  int next = 0;
  for (; next < std::min(micro_batches, ranks - rank); ++next) list.push_back({Kind::forward, next});
  for (int j = 0; j < micro_batches; ++j) {
    list.push_back({Kind::backward, j});
    if (next < micro_batches) list.push_back({Kind::forward, next++});
  }
  return list;
}

double step(const std::vector<Action>& actions, const Batch& batch, const Stage& stage) {
  const int rank = dist::get_rank();
  const bool is_first = rank == 0, is_last = rank + 1 == dist::get_world_size();
  const auto samples =
      static_cast<double>(std::accumulate(batch.samples.begin(), batch.samples.end(), std::int64_t{0}));
  double loss = 0;
  std::map<int, Tensor> loss_gradients;  // of the micro-batches in flight, on the last rank
  std::vector<dist::P2P> messages;       // that the next batch_isend_irecv starts: the send, then the receive
  std::vector<std::pair<Tensor, dist::Work>> sends;

  const auto start = [&] {
    dist::Work receive;
    const auto works = dist::batch_isend_irecv(messages);
    for (std::size_t i = 0; i < works.size(); ++i) {
      if (messages[i].kind == dist::P2P::irecv)
        receive = works[i];
      else
        sends.emplace_back(messages[i].tensor, works[i]);
    }
    messages.clear();
    // What its receiver has is kept no longer.
    std::erase_if(sends, [](auto& send) { return send.second.is_completed(); });
    return receive;
  };

  for (const auto& [kind, j] : actions) {
    const bool is_forward = kind == Kind::forward;
    const bool receives = is_forward ? !is_first : !is_last;
    Tensor in;
    if (receives) {
      const auto rows = batch.samples[static_cast<std::size_t>(j)];
      in = dist::empty({rows, is_forward ? stage.inputs : stage.outputs}, dist::DType::f64);
      messages.push_back({dist::P2P::irecv, in, is_forward ? rank - 1 : rank + 1});
    } else {
      in = is_forward ? batch.inputs[static_cast<std::size_t>(j)] : loss_gradients.extract(j).mapped();
    }
    if (!messages.empty()) start().wait();
    const Tensor out = is_forward ? stage.forward(j, in) : stage.backward(j, in);
    if (is_forward && is_last) {
      Loss of_micro_batch = stage.loss(j, out);
      loss += of_micro_batch.sum / samples;
      loss_gradients[j] = of_micro_batch.gradient.div_(samples);
    } else if (is_forward || !is_first) {
      messages.push_back({dist::P2P::isend, out, is_forward ? rank + 1 : rank - 1});
    }
  }
  if (!messages.empty()) start();
  for (auto& [tensor, work] : sends) work.wait();
  return loss;
}

}  // namespace lab
