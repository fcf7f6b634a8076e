// Lab 16, shared by all parts: the task of a rank, and the same run in one process, rank by rank.
#include "support.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <regex>

#include <nlohmann/json.hpp>

#include "dist/data/sampler.h"

#include "samples.h"

namespace lab16 {
namespace {

namespace nn = dist::nn;
using dist::check::Code;

// All copies of the model, with their optimizers.
class Replicas {
 public:
  Replicas(const Asked& asked, const Way& way) : way_(way), samples_(asked.samples, asked.data_seed) {
    for (int rank = 0; rank < asked.ranks; ++rank) {
      models_.push_back(make_model(asked.model_seed));  // rank 0's model
      models_.back()->train(way.in_training_mode);
      optimizers_.push_back(std::make_unique<nn::SGD>(
          models_.back()->parameters(), nn::SGDOptions{.lr = asked.lr, .momentum = asked.momentum}));
      for (auto* parameter : models_.back()->parameters()) parameter->grad.fill_(way.dirt);
    }
  }
  // batches[rank]: numbers of samples. Returns each rank's loss.
  std::vector<double> step(const std::vector<Reads>& batches) {
    std::vector<double> losses;
    for (std::size_t rank = 0; rank < models_.size(); ++rank) {
      if (way_.averages && way_.in_training_mode) share_statistics(rank);
      losses.push_back(backward(*models_[rank], batches[rank]));
    }
    if (way_.averages) average_gradients();
    for (std::size_t rank = 0; rank < models_.size(); ++rank) {
      if (!way_.keeps_gradients) models_[rank]->zero_grad();
      optimizers_[rank]->step();
    }
    return losses;
  }
  void forget_momentum(std::size_t first_rank) {
    for (std::size_t rank = first_rank; rank < optimizers_.size(); ++rank)
      optimizers_[rank]->load_state_dict({});
  }
  void become_rank_0s() {
    for (auto& model : models_) model->load_state_dict(models_[0]->state_dict());
  }
  void forget_statistics(std::uint64_t model_seed) {
    const auto fresh = make_model(model_seed);
    for (auto& model : models_) {
      const auto old = fresh->named_buffers(), now = model->named_buffers();
      for (std::size_t i = 0; i < now.size(); ++i) now[i].buffer->value.copy_(old[i].buffer->value);
    }
  }
  std::vector<Numbers> numbers() {
    std::vector<Numbers> all;
    for (auto& model : models_) all.push_back(flat(model->state_dict()));
    return all;
  }

 private:
  void share_statistics(std::size_t rank) {
    const auto first = models_[0]->named_buffers(), ours = models_[rank]->named_buffers();
    for (std::size_t i = 0; i < ours.size() && rank > 0; ++i) ours[i].buffer->value.copy_(statistics_.at(i));
    if (rank > 0) return;
    statistics_.clear();
    for (const auto& [name, buffer] : first) statistics_.push_back(buffer->value.clone());
  }
  double backward(nn::Module& model, const Reads& batch) {
    std::vector<dist::data::Sample> some;
    for (const std::int64_t index : batch) some.push_back(samples_.get(index));
    const auto [inputs, targets] = dist::data::stack(some);
    nn::CrossEntropyLoss loss;
    const double value = loss.forward(model.forward(inputs), targets);
    if (way_.zeroes) model.zero_grad();
    (void)model.backward(loss.backward());
    return value;
  }
  void average_gradients() {
    for (std::size_t i = 0; i < models_[0]->parameters().size(); ++i) {
      auto mean = dist::zeros_like(models_[0]->parameters()[i]->grad);
      for (auto& model : models_) mean.add_(model->parameters()[i]->grad);
      mean.div_(static_cast<double>(models_.size()));
      for (auto& model : models_) model->parameters()[i]->grad.copy_(mean);
    }
  }

  const Way way_;
  const Spots samples_;
  std::vector<std::unique_ptr<nn::Sequential>> models_;
  std::vector<std::unique_ptr<nn::SGD>> optimizers_;
  std::vector<dist::Tensor> statistics_;  // rank 0's, before this step
};

Reads part(const Reads& all, std::int64_t begin, std::int64_t end) {
  return {all.begin() + begin, all.begin() + std::min(end, std::ssize(all))};
}

// The reads by the end of each epoch, and what is left in the last one.
Json cut(const Reads& reads, const Reads& ends) {
  Json epochs = Json::array();
  std::int64_t at = 0;
  for (const std::int64_t end : ends) {
    const auto until =
        epochs.size() + 1 == ends.size() ? std::ssize(reads) : std::clamp(end, at, std::ssize(reads));
    epochs.push_back(Reads(reads.begin() + at, reads.begin() + until));
    at = until;
  }
  return epochs;
}

double mean(const Numbers& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0) / static_cast<double>(numbers.size());
}

// The losses of an epoch, summed up in several ways.
struct Losses {
  Numbers sums, counts, batches;  // [rank], [rank], over all ranks
  explicit Losses(int ranks) : sums(ranks), counts(ranks) {}
  void add(std::size_t rank, double loss, std::size_t count) {
    sums[rank] += loss * static_cast<double>(count);
    counts[rank] += static_cast<double>(count);
    batches.push_back(loss);
  }
};

}  // namespace

Json Asked::task(const std::string& call, int rank) const {
  return {{"call", call},
          {"what", "spots"},
          {"model_seed", model_seed + static_cast<std::uint64_t>(same_models ? 0 : rank)},
          {"train_size", samples},
          {"test_size", test_samples},
          {"batch", batch},
          {"seed", seed},
          {"lr", lr},
          {"momentum", momentum}};
}

Asked draw_asked(judge::Random& random, int ranks) {
  Asked asked;
  asked.ranks = ranks;
  asked.model_seed = static_cast<std::uint64_t>(random.between(1, 1'000'000));
  asked.data_seed = static_cast<std::uint64_t>(random.between(1, 1'000'000));
  asked.seed = static_cast<std::uint64_t>(random.between(1, 1'000'000));
  asked.batch = random.between(4, 6);
  // Every rank reads the same number of samples, one of them for a second time, and the last batch is
  // smaller.
  asked.samples = ranks * (2 * asked.batch + random.between(1, 3)) - (ranks > 1 ? 1 : 0);
  if (ranks == 4) asked.topology = "nodes-of-2";
  return asked;
}

Watched run(const Asked& asked, const std::string& call, const Json& more) {
  const Spots train(asked.samples, asked.data_seed), test(asked.test_samples, asked.data_seed + 1);
  const auto draw = [&](Which which, std::int64_t index) {
    return piece_of((which == Which::train ? train : test).get(index));
  };
  Samples samples(asked.ranks, {train.size(), test.size()}, draw, more.value("kill_after", -1));
  judge::SimPlan plan;
  plan.hidden = [&](int rank, const judge::Request& request) { return samples.piece(rank, request); };
  plan.limits.writes_files = true;
  plan.topology = asked.topology;
  for (int rank = 0; rank < asked.ranks; ++rank) {
    plan.tasks.push_back(asked.task(call, rank));
    plan.tasks.back().update(more);
  }
  return {judge::simulate(plan), samples.reads(Which::train), samples.reads(Which::test)};
}

std::vector<Json> answers(const Watched& run) {
  for (const auto& finding : run.report.findings) {
    // Checked for a mismatch, too: these messages are the library's own, and they match if ranks make the
    // same calls.
    if (finding.code == Code::deadlock || finding.code == Code::mismatched_collective ||
        finding.code == Code::misfit_message)
      judge::misconception("leaves_the_others_waiting",
                           "a rank does not make the call that the other ranks make; fix: call every "
                           "collective on every rank, also on a rank that has no sample or does not write");
  }
  for (const auto& failure : run.report.failures) {
    // Both have the CPU's name; the weights' device is the ranks' own.
    static const std::regex on_two_devices(R"(is (\w+) on cpu, \1 on cpu is expected)");
    if (!std::regex_search(failure.what, on_two_devices)) continue;
    judge::misconception(
        "not_on_the_device",
        "a layer's input is on the CPU and its weights are on dist::get_device(), which in this "
        "grading is not the CPU, although it has its name; fix: move the model and the inputs "
        "with .to(dist::get_device())");
  }
  auto replies = run.answers({"DistributedDataParallel", "all_reduce", "all_gather", "broadcast", "reduce",
                              "gather", "scatter", "reduce_scatter", "all_to_all", "barrier"});
  for (std::size_t rank = 0; rank < replies.size(); ++rank) {
    Json& reply = replies[rank];
    const Reads& reads = run.trained_on[rank];
    reply["reads"] = reply.contains("read_by") ? cut(reads, reply["read_by"].get<Reads>()) : Json(reads);
  }
  return replies;
}

Reads share(const Asked& asked, int rank, int epoch, std::uint64_t seed) {
  dist::data::DistributedSampler sampler(asked.samples,
                                         {.num_replicas = asked.ranks, .rank = rank, .seed = seed});
  sampler.set_epoch(epoch);
  return sampler.indices();
}

Trained trained(const Asked& asked, const Way& way) {
  Replicas replicas(asked, way);
  Trained result;
  for (const int epoch : asked.epochs) {
    if (epoch == way.forgets_momentum_before) replicas.forget_momentum(0);
    if (epoch == way.others_forget_momentum_before) replicas.forget_momentum(1);
    if (epoch == way.forgets_statistics_before) replicas.forget_statistics(asked.model_seed);
    std::vector<Reads> shares;
    for (int rank = 0; rank < asked.ranks; ++rank)
      shares.push_back(share(asked, rank, way.sets_epoch ? epoch : 0, asked.seed));
    Losses losses(asked.ranks);
    for (std::int64_t at = 0; at < std::ssize(shares[0]); at += asked.batch) {
      std::vector<Reads> batches;
      for (const Reads& all : shares) batches.push_back(part(all, at, at + asked.batch));
      const auto of_ranks = replicas.step(batches);
      for (std::size_t rank = 0; rank < of_ranks.size(); ++rank)
        losses.add(rank, of_ranks[rank], batches[rank].size());
    }
    if (way.others_forget_momentum_before >= 0) replicas.become_rank_0s();
    result.losses.push_back(mean(losses.sums) / mean(losses.counts));
    result.batch_means.push_back(mean(losses.batches));
    Numbers own = losses.sums;
    for (std::size_t rank = 0; rank < own.size(); ++rank) own[rank] /= losses.counts[rank];
    result.own_losses.push_back(own);
  }
  result.numbers = replicas.numbers();
  return result;
}

Trained stepped(const Asked& asked, const std::vector<Reads>& batches, const Way& way) {
  Replicas replicas(asked, way);
  Trained result;
  for (const Reads& batch : batches) result.losses.push_back(replicas.step({batch})[0]);
  result.numbers = replicas.numbers();
  return result;
}

Numbers first_numbers(std::uint64_t model_seed) { return flat(make_model(model_seed)->state_dict()); }

std::int64_t count_right(const Asked& asked, const Numbers& numbers, const Reads& samples) {
  const auto model = make_model(asked.model_seed);
  write(model->state_dict(), numbers);
  model->eval();
  const Spots test(asked.test_samples, asked.data_seed + 1);
  return std::ranges::count_if(samples, [&](std::int64_t index) {
    const auto [input, target] = test.get(index);
    return guess(model->forward(input.view({1, 2, 2, 2}))) == target.item<std::int64_t>();
  });
}

double distance(const Numbers& right, const Numbers& got) {
  if (right.size() != got.size()) return HUGE_VAL;
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    difference += (right[i] - got[i]) * (right[i] - got[i]);
    size += right[i] * right[i];
  }
  const double relative = std::sqrt(difference / std::max(size, 1e-300));
  return std::isnan(relative) ? HUGE_VAL : relative;
}

Numbers numbers_of(const Json& numbers) {
  Numbers all;
  for (const auto& number : numbers) all.push_back(number.is_null() ? std::nan("") : number.get<double>());
  return all;
}

}  // namespace lab16
