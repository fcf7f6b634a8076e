// Lab 16, part 5: the whole run, on 1, 2 and 4 ranks; and a network that learns digits.
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "dist/data/data_loader.h"
#include "dist/data/digits.h"

#include "replies.h"

namespace lab16 {
namespace {

using judge::misconception;

// Whether more samples than the padding needs were read by two ranks in their first epoch.
bool shares_overlap(const Asked& asked, const std::vector<Json>& replies) {
  std::vector<int> looks(static_cast<std::size_t>(asked.samples));
  for (const Json& reply : replies)
    for (const std::int64_t index : epoch_reads(asked, reply, 0)) ++looks.at(static_cast<std::size_t>(index));
  return std::ranges::count(looks, 0) > 0;
}

bool all_have_read(const Asked& asked, const std::vector<Json>& replies, std::int64_t each_epoch) {
  return std::ranges::all_of(replies, [&](const Json& reply) {
    return std::ssize(reply.at("reads")) == each_epoch * std::ssize(asked.epochs);
  });
}

// Two ranks per node: rank 2 reads what rank 0 reads.
bool read_as_local_ranks(const Asked& asked, const std::vector<Json>& replies) {
  for (int rank = 0; rank < asked.ranks; ++rank)
    for (std::size_t i = 0; i < asked.epochs.size(); ++i)
      if (epoch_reads(asked, replies[static_cast<std::size_t>(rank)], i) !=
          right_reads(asked, rank % 2, static_cast<int>(i)))
        return false;
  return true;
}

// Returns false, and the test has failed, if ranks did not read what they should.
bool check_reads(const Asked& asked, const std::vector<Json>& replies) {
  const auto epochs = asked.epochs.size();
  const auto in_order = [](std::size_t i) { return static_cast<int>(i); };
  const bool all = all_have_read(asked, replies, share_size(asked));
  Asked no_seed = asked;
  no_seed.seed = 0;
  if (all && has_read(asked, replies, epochs, in_order)) return true;
  if (all && has_read(asked, replies, epochs, [](std::size_t) { return 0; }))
    misconception("set_epoch_forgotten",
                  "every epoch has the order of epoch 0; fix: call sampler.set_epoch(epoch) on all ranks");
  else if (all && has_read(no_seed, replies, epochs, in_order))
    misconception("seed_forgotten",
                  "the samples were read in the order of seed 0; fix: give the sampler the seed of the plan");
  else if (all && asked.topology == "nodes-of-2" && read_as_local_ranks(asked, replies))
    misconception(
        "local_rank_for_the_sampler",
        "on each node the samples were read as on the first one: the local rank was taken for the rank; "
        "fix: give the sampler dist::get_rank()");
  else if (share_size(asked) * asked.ranks != asked.samples &&
           all_have_read(asked, replies, asked.samples / asked.ranks))
    misconception("drops_the_rest",
                  "the samples that are left over when each rank has the same number were read by no rank; "
                  "fix: leave .drop_last of the sampler as it is, false");
  else if (all && shares_overlap(asked, replies))
    misconception("sampler_seed_of_each_rank",
                  "two ranks have read the same sample, and other samples are read by no rank; fix: give the "
                  "sampler the same seed on all ranks, because it orders all samples, from which each rank "
                  "takes its part (first weights may differ: DDP replaces them by rank 0's)");
  ADD_FAILURE() << fmt::format(
      "train_model, {} epochs, seed {}, {} samples on {} ranks: they must be read in the parts of a "
      "DistributedSampler with this seed, in the order of each epoch; rank 0 has read {} samples: {}",
      epochs, asked.seed, asked.samples, asked.ranks, replies[0].at("reads").size(),
      epoch_reads(asked, replies[0], 0));
  return false;
}

const std::vector<Idea>& run_ideas() {
  static const std::vector<Idea> known{
      {"trains_alone",
       "each rank has trained a model of its own; fix: pass train_epoch a DistributedDataParallel around the "
       "model",
       {.averages = false}},
      {"adds_to_old_gradients",
       "the gradients include those of the batches before; fix: call zero_grad() before each backward",
       {.zeroes = false}}};
  return known;
}

// Other numbers of the plan, if the model is the one that they would give.
void diagnose_plan(const Asked& asked, const Json& numbers) {
  struct Plan {
    const char *name, *in_words;
    double lr, momentum;
    std::int64_t batch;
  };
  const double n = asked.ranks;
  const Plan plans[]{
      {"lr_scaled",
       "the learning rate was multiplied by the number of ranks; fix: use plan.lr as it is, because the "
       "gradients "
       "are means over the ranks",
       n * asked.lr, asked.momentum, asked.batch},
      {"lr_scaled",
       "the learning rate was divided by the number of ranks; fix: use plan.lr as it is, because the "
       "gradients "
       "are means over the ranks already",
       asked.lr / n, asked.momentum, asked.batch},
      {"momentum_missing", "the optimizer has no momentum; fix: give it plan.momentum", asked.lr, 0,
       asked.batch},
      {"batch_divided",
       "the batches were smaller by the number of ranks; fix: plan.batch_size is the batch of each rank",
       asked.lr, asked.momentum, std::max<std::int64_t>(1, asked.batch / asked.ranks)},
      {"batch_multiplied",
       "the batches were larger by the number of ranks; fix: plan.batch_size is the batch of each rank",
       asked.lr, asked.momentum, asked.batch * asked.ranks}};
  for (const Plan& plan : plans) {
    Asked other = asked;
    other.lr = plan.lr;
    other.momentum = plan.momentum;
    other.batch = plan.batch;
    if (distance(trained(other).numbers[0], numbers_of(numbers)) > near) continue;
    return misconception(plan.name, plan.in_words);
  }
}

void check_results(const Asked& asked, const Json& reply, const Trained& right) {
  Reads all(static_cast<std::size_t>(asked.test_samples));
  std::iota(all.begin(), all.end(), 0);
  const Json& results = reply.at("results");
  if (results.size() != asked.epochs.size()) {
    ADD_FAILURE() << fmt::format("train_model, {} epochs: it returned the results of {} epochs",
                                 asked.epochs.size(), results.size());
    return;
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    const double loss = results[i].at("loss").is_null() ? std::nan("") : results[i].at("loss").get<double>();
    if (is_near(right.losses[i], loss)) continue;
    ADD_FAILURE() << fmt::format(
        "train_model: the mean loss of epoch {} over all ranks is {:.6f}; it returned {:.6f}", i,
        right.losses[i], loss);
    return;
  }
  if (results.empty()) return;
  const double accuracy = static_cast<double>(count_right(asked, numbers_of(reply.at("numbers")), all)) /
                          static_cast<double>(asked.test_samples);
  const Json& got = results.back().at("accuracy");
  if (!got.is_null() && std::abs(got.get<double>() - accuracy) < 1e-9) return;
  ADD_FAILURE() << fmt::format(
      "train_model: the accuracy of the resulting model on the test samples is {:.6f}; it returned {}",
      accuracy, got.dump());
}

// A network with these numbers, tested on the digits of the task.
double digits_known(const Numbers& numbers, const dist::data::Digits& test) {
  dist::nn::ConvNet model;
  write(model.state_dict(), numbers);
  model.eval();
  std::int64_t right = 0;
  for (const auto& [inputs, targets] : dist::data::DataLoader(test, {.batch_size = 100, .workers = 1})) {
    const auto logits = model.forward(inputs);
    for (std::int64_t i = 0; i < targets.size(0); ++i)
      right += guess(logits[i]) == targets[i].item<std::int64_t>();
  }
  return static_cast<double>(right) / static_cast<double>(test.size());
}

}  // namespace

void expect_run(const Asked& asked) {
  const auto replies = answers(run(asked, "train", plan_of(asked, false)));
  if (replies.empty() || !check_reads(asked, replies)) return;
  const auto right = trained(asked);
  const double apart = distance(right.numbers[0], numbers_of(replies[0].at("numbers")));
  if (apart > near || !same_everywhere(replies)) {
    if (asked.epochs.empty())
      misconception(
          "nothing_to_do",
          "a plan of 0 epochs trains nothing, but the ranks must end with rank 0's model, too; fix: "
          "create DistributedDataParallel, which sends it, also then");
    diagnose_numbers(asked, replies[0].at("numbers"), run_ideas());
    if (asked.ranks > 1) diagnose_plan(asked, replies[0].at("numbers"));
    ADD_FAILURE() << fmt::format(
        "train_model, {} epochs on {} ranks: {}; rank 0's model is at a relative distance of {:.1e} from the "
        "right one; seed, batch size, learning rate and momentum must be those of the plan",
        asked.epochs.size(), asked.ranks,
        same_everywhere(replies) ? "all ranks have the same model" : "the ranks have different models",
        apart);
    return;
  }
  for (const Json& reply : replies) {
    if (!reply.at("on_device")) {
      misconception("not_on_the_device",
                    "the model was never moved; fix: call model.to(dist::get_device()) first");
      ADD_FAILURE()
          << "train_model: at the end the model must be on dist::get_device(); some of its tensors are "
             "on the CPU";
      return;
    }
    check_results(asked, reply, right);
    if (testing::Test::HasFailure()) return;
  }
}

void expect_digits() {
  constexpr double wanted = 0.96;  // the solution: 0.977 on average, of 1,500 digits 0.004 more or less
  constexpr std::int64_t train_size = 3000, test_size = 500;
  constexpr std::uint64_t train_seed = 1, test_seed = 2;
  // No process knows the digits that decide.
  constexpr std::int64_t hidden_size = 1500;
  judge::Random random("digits");
  const auto hidden_seed = static_cast<std::uint64_t>(random.between(1000, 1 << 30));
  judge::SimPlan plan;
  plan.limits.work = std::chrono::seconds(60);
  plan.limits.writes_files = true;
  Asked asked;
  asked.epochs = {0, 1, 2};
  for (int rank = 0; rank < asked.ranks; ++rank) {
    plan.tasks.push_back(asked.task("train", rank));
    plan.tasks.back().update(plan_of(asked, false));
    plan.tasks.back().update({{"what", "digits"},
                              {"train_size", train_size},
                              {"test_size", test_size},
                              {"seeds", {train_seed, test_seed}},
                              {"batch", 16},
                              {"lr", 0.02},
                              {"momentum", 0.9}});
  }
  const std::vector<Reads> unknown(static_cast<std::size_t>(asked.ranks));
  const auto replies = answers({judge::simulate(plan), unknown, unknown});
  if (replies.empty()) return;
  const double known =
      digits_known(numbers_of(replies[0].at("numbers")), dist::data::Digits(hidden_size, hidden_seed));
  const auto heading = fmt::format("train_model of a ConvNet on {} digits, {} epochs on {} ranks", train_size,
                                   asked.epochs.size(), asked.ranks);
  if (!same_everywhere(replies)) {
    ADD_FAILURE() << heading << ": at the end the ranks must have the same model; they have different ones";
  } else if (known < wanted) {
    ADD_FAILURE() << fmt::format(
        "{}: its accuracy is {:.1f} % on {} other digits; expected at least {:.0f} %", heading, 100 * known,
        hidden_size, 100 * wanted);
  }
}

}  // namespace lab16
