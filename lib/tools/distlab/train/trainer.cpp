#include "distlab/train/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <initializer_list>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dist/core/device.h"
#include "dist/core/fail.h"
#include "dist/group/process_group.h"
#include "dist/nn/random.h"
#include "dist/parallel/replicas.h"

namespace distlab {
namespace {

namespace data = dist::data;
namespace nn = dist::nn;
using Clock = std::chrono::steady_clock;

constexpr double momentum = 0.9;
constexpr std::uint64_t train_collection = 1, test_collection = 2;  // of digits

// Seconds since the last call.
class Lap {
 public:
  double operator()() {
    const auto now = Clock::now();
    return std::chrono::duration<double>(now - std::exchange(last_, now)).count();
  }

 private:
  Clock::time_point last_ = Clock::now();
};

dist::Device device_of(const std::string& name) {
  if (name == "cpu") return dist::cpu;
  const int gpus = dist::device_api(dist::DeviceType::cuda).count();  // says what is missing
  return dist::cuda(dist::get_local_rank() % gpus);
}

std::unique_ptr<nn::Module> make_model(const TrainOptions& options, dist::Device device) {
  nn::manual_seed(options.seed);
  auto model = std::make_unique<nn::ConvNet>();
  model->skip_input_grad();
  model->to(device);
  return model;
}

// Of all ranks; backends of GPUs sum on GPUs only.
template <class T>
std::vector<T> summed(std::initializer_list<T> values, dist::Device device) {
  auto all = dist::tensor(values).to(device);
  dist::all_reduce(all);
  return all.template to_vector<T>();
}

}  // namespace

Trainer::Trainer(const TrainOptions& options)
    : options_(options),
      rank_(dist::get_rank()),
      ranks_(dist::get_world_size()),
      device_(device_of(options.device)),
      train_digits_(options.samples, train_collection),
      test_digits_(options.test_samples, test_collection),
      sampler_(options.samples, {.num_replicas = ranks_, .rank = rank_, .seed = options.seed}),
      model_(make_model(options, device_)),
      optimizer_(model_->parameters(), {.lr = options.lr, .momentum = momentum}),
      narrator_(rank_ != 0, options.epochs) {
  if (options.resume) resume();
  scheme_ = scheme_named(options.scheme).make(*model_);
}

RunSettings Trainer::settings(int epochs_done) const {
  return {{"epochs_done", epochs_done},
          {"ranks", ranks_},
          {"batch_size", options_.batch_size},
          {"samples", options_.samples},
          {"seed", static_cast<std::int64_t>(options_.seed)}};
}

// All ranks read the file: it lies where all can.
void Trainer::resume() {
  if (options_.checkpoint.empty())
    dist::fail(dist::Errc::invalid_argument, "--resume needs the --checkpoint FILE to go on from");
  if (!std::filesystem::exists(options_.checkpoint)) {
    narrator_.say(fmt::format("{} is not there yet: training begins", options_.checkpoint.string()));
    return;
  }
  first_epoch_ = load_checkpoint(options_.checkpoint, *model_, optimizer_, settings(0));
  narrator_.say(fmt::format("going on after epoch {}, from {}", first_epoch_, options_.checkpoint.string()));
  steps_ = first_epoch_ * ((sampler_.size() + options_.batch_size - 1) / options_.batch_size);
}

EpochResult Trainer::run() {
  EpochResult result;
  for (int epoch = first_epoch_; epoch < options_.epochs; ++epoch) {
    result = {};
    narrator_.begin(epoch + 1);
    train_epoch(epoch, result);
    evaluate(result);
    narrator_.end(result);
    if (rank_ == 0 && !options_.checkpoint.empty())
      save_checkpoint(options_.checkpoint, *model_, optimizer_, settings(epoch + 1));
  }
  if (rank_ != 0) return result;
  if (const auto summary = history_.summary(); !summary.empty()) narrator_.say(summary);
  if (!options_.plot.empty() && !history_.empty())
    history_.plot(options_.plot,
                  fmt::format("{} ranks, {}, batch {} a rank", ranks_, options_.scheme, options_.batch_size));
  return result;
}

void Trainer::train_epoch(int epoch, EpochResult& result) {
  scheme_->module().train();
  sampler_.set_epoch(epoch);
  const data::DataLoader loader(train_digits_, sampler_, {.batch_size = options_.batch_size, .workers = 1});
  const auto start = Clock::now();
  double loss_sum = 0;
  std::int64_t seen = 0;
  Lap lap;
  for (const auto& batch : loader) {
    StepTimes times{.data = lap()};
    const double loss = train_step(batch, times);
    history_.add(loss, times);
    loss_sum += loss * static_cast<double>(batch.size());
    seen += batch.size();
    narrator_.step(seen * ranks_, sampler_.size() * ranks_, loss);
    lap();
  }
  const auto all = summed({loss_sum, static_cast<double>(seen)}, device_);
  result.loss = all[0] / all[1];
  result.images = static_cast<std::int64_t>(all[1]);
  result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
}

double Trainer::train_step(const data::Batch& batch, StepTimes& times) {
  Lap lap;
  ++steps_;
  const double loss = loss_.forward(scheme_->module().forward(batch.inputs.to(device_)), batch.targets);
  if (!std::isfinite(loss))
    dist::fail(dist::Errc::invalid_argument,
               "the loss of rank {} at step {} is {}; a smaller --lr than {} may help", rank_, steps_,
               std::abs(loss), options_.lr);
  times.forward = lap();
  optimizer_.zero_grad();
  scheme_->module().backward(loss_.backward());
  times.exposed = scheme_->exposed();
  times.backward = lap() - times.exposed;
  optimizer_.step();
  times.update = lap();
  return loss;
}

// Every rank looks at its share of the test images; the counts of all are summed, so that the accuracy is
// exact.
void Trainer::evaluate(EpochResult& result) {
  dist::broadcast_state(*model_, dist::default_group());  // running statistics differ from rank to rank
  model_->eval();
  const data::ShardSampler share(test_digits_.size(), {rank_, ranks_});
  std::int64_t right = 0, seen = 0;
  for (const auto& [inputs, targets] :
       data::DataLoader(test_digits_, share, {.batch_size = 100, .workers = 1})) {
    const auto logits = model_->forward(inputs.to(device_)).to(dist::cpu);
    const auto labels = targets.data<std::int64_t>();
    for (std::int64_t i = 0; i < targets.size(0); ++i) {
      const auto scores = logits[i];
      const auto row = std::as_const(scores).data<float>();
      right += std::ranges::max_element(row) - row.begin() == labels[static_cast<std::size_t>(i)];
    }
    seen += targets.size(0);
  }
  const auto all = summed({right, seen}, device_);
  result.right = all[0];
  result.of = all[1];
}

}  // namespace distlab
