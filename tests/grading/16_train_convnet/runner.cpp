// The process of one rank in the grading of lab 16: a rank of the grader's simulation that calls the graded
// functions as the task says. It reports the mode of the model, the resulting numbers, and what is in this
// rank's own folder. Samples are the grader's, which knows by itself who has read them.
#include "judge/runner.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "dist/data/digits.h"
#include "dist/dist.h"

#include "train_convnet.h"
#include "world.h"

// The ranks' own device: memory of the CPU under another name, so that a tensor that a submission leaves on
// the CPU is noticed where a GPU would notice it.
static bool has_own_device = true;
namespace dist {
Device get_device(Caller) { return has_own_device ? Device{DeviceType::cpu, 1} : cpu; }
}  // namespace dist

namespace {

// The path of the checkpoint, and whether a file there was removed, or moved away.
std::string guarded;
bool was_removed = false;

void goes_away(const char* path) {
  struct stat its {};
  was_removed = was_removed || (!guarded.empty() && path == guarded && ::stat(path, &its) == 0);
}

int remove_file(int folder, const char* path, int flags) {
  goes_away(path);
  return static_cast<int>(::syscall(SYS_unlinkat, folder, path, flags));
}

}  // namespace

// Instead of the C library's: std::filesystem's remove() and rename() come here, too.
extern "C" {
int unlinkat(int folder, const char* path, int flags) noexcept { return remove_file(folder, path, flags); }
int unlink(const char* path) noexcept { return remove_file(AT_FDCWD, path, 0); }
int rename(const char* from, const char* to) noexcept {
  goes_away(from);
  return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}
// The sandbox refuses this call, and then the library writes into an older file instead of replacing it. Here
// it succeeds where the owner may do already what it says.
int fchmod(int file, mode_t mode) noexcept {
  struct stat its {};
  constexpr mode_t of_owner = S_IRWXU;
  if (::fstat(file, &its) == 0 && (its.st_mode & of_owner) == (mode & of_owner)) return 0;
  errno = ENOSYS;
  return -1;
}
int remove(const char* path) noexcept {
  const int result = remove_file(AT_FDCWD, path, 0);
  return result == 0 || errno != EISDIR ? result : remove_file(AT_FDCWD, path, AT_REMOVEDIR);
}
}

namespace {

namespace fs = std::filesystem;
namespace nn = dist::nn;
using judge::Json;

// Not a std::exception, so that no handler catches it by accident.
struct Killed {};

// Samples that the grader has, and records as they are read. Where it is to be, it kills the rank instead.
class Hidden : public dist::data::Dataset {
 public:
  Hidden(const Json& task, lab16::Which which)
      : which_(which), size_(task.at(which == lab16::Which::train ? "train_size" : "test_size")) {}
  std::int64_t size() const override { return size_; }
  dist::data::Sample get(std::int64_t index) const override {
    if (index < 0 || index >= size_)
      throw std::out_of_range(fmt::format("there is no sample {} of {}", index, size_));
    const Json piece = judge::fetch({static_cast<std::int64_t>(which_), index});
    if (piece == "killed") throw Killed{};
    ++reads_;
    return lab16::sample_of(piece);
  }
  std::int64_t reads() const { return reads_; }

 private:
  const lab16::Which which_;
  const std::int64_t size_;
  mutable std::atomic<std::int64_t> reads_ = 0;
};

// Counts the samples in each mode, and checks where the gradients are in memory.
class Counting : public nn::Module {
 public:
  explicit Counting(std::unique_ptr<nn::Module> model) : model_(std::move(model)) {
    register_module("model", *model_);
    skip_input_grad();
  }
  dist::Tensor run_forward(const dist::Tensor& input) override {
    (is_training() ? trained_ : evaluated_) += input.size(0);
    if (is_training()) look_at_gradients();
    return model_->forward(input);
  }
  dist::Tensor run_backward(const dist::Tensor& grad) override { return model_->backward(grad); }
  void skip_input_grad() override { model_->skip_input_grad(); }
  std::int64_t trained() const { return trained_; }
  std::int64_t evaluated() const { return evaluated_; }
  // In how many different orders the gradients have been in a common bucket.
  std::size_t orders() const { return orders_.size(); }

 private:
  void look_at_gradients() {
    std::map<const std::byte*, std::pair<std::size_t, std::int64_t>> by_place;  // number and bytes
    for (nn::Parameter* parameter : model_->parameters())
      by_place[static_cast<const std::byte*>(parameter->grad.raw())] = {
          by_place.size(), static_cast<std::int64_t>(parameter->grad.nbytes())};
    std::vector<std::size_t> order;
    const std::byte* end = by_place.begin()->first;
    for (const auto& [place, its] : by_place) {
      constexpr std::ptrdiff_t filled = 16;  // up to its next multiple
      if (place - end >= filled) return;     // each has memory of its own
      end = place + its.second;
      order.push_back(its.first);
    }
    orders_.insert(order);
  }

  std::unique_ptr<nn::Module> model_;
  std::int64_t trained_ = 0, evaluated_ = 0;
  std::set<std::vector<std::size_t>> orders_;
};

// This rank's own folder: files that the rank writes go here.
class Folder {
 public:
  Folder() {
    std::string name = fs::temp_directory_path() / "lab16-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder for a rank");
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  fs::path file() const { return path_ / "run.safetensors"; }
  void put(const std::string& hex) const {
    std::string bytes;
    for (std::size_t i = 0; i < hex.size(); i += 2)
      bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
    write(bytes);
  }
  void write(const std::string& bytes) const { std::ofstream(file(), std::ios::binary) << bytes; }
  // "files": how many there are; "bytes": those of our file, null without one.
  Json content() const {
    Json result{{"files", std::distance(fs::directory_iterator(path_), fs::directory_iterator())},
                {"bytes", nullptr}};
    std::ifstream in(file(), std::ios::binary);
    if (!in) return result;
    std::string hex;
    for (std::istreambuf_iterator<char> byte(in), end; byte != end; ++byte)
      hex += fmt::format("{:02x}", static_cast<unsigned char>(*byte));
    result["bytes"] = hex;
    return result;
  }

 private:
  fs::path path_;
};

// The grader's samples, or digits, which any program can draw.
std::unique_ptr<dist::data::Dataset> samples_of(const Json& task, lab16::Which which) {
  if (task.at("what") == "spots") return std::make_unique<Hidden>(task, which);
  const bool trains = which == lab16::Which::train;
  return std::make_unique<dist::data::Digits>(task.at(trains ? "train_size" : "test_size"),
                                              task.at("seeds").at(trains ? 0 : 1));
}

std::unique_ptr<nn::Module> model_of(const Json& task) {
  if (task.at("what") == "spots") return lab16::make_model(task.at("model_seed"));
  nn::manual_seed(task.at("model_seed"));
  return std::make_unique<nn::ConvNet>();
}

nn::SGD optimizer_of(nn::Module& model, const Json& task) {
  return nn::SGD(model.parameters(), {.lr = task.at("lr"), .momentum = task.at("momentum")});
}

// "batches": lists of samples. Before the first one the gradients hold arbitrary values.
Json step(const Json& task) {
  Counting model(model_of(task));
  model.to(dist::get_device());
  auto optimizer = optimizer_of(model, task);
  for (auto* parameter : model.parameters()) parameter->grad.fill_(3);
  const Hidden samples(task, lab16::Which::train);
  Json losses = Json::array();
  for (const auto& batch : task.at("batches")) {
    std::vector<dist::data::Sample> some;
    for (const std::int64_t index : batch) some.push_back(samples.get(index));
    losses.push_back(lab::train_step(model, optimizer, dist::data::stack(some)));
  }
  return {{"losses", losses}, {"numbers", lab16::flat(model.state_dict())}};
}

// "epochs": their numbers, one after another. The model arrives as an evaluation leaves it.
Json epochs(const Json& task) {
  Counting model(model_of(task));
  model.to(dist::get_device());
  auto optimizer = optimizer_of(model, task);
  dist::DistributedDataParallel ddp(model, lab::same_buckets);
  const Hidden samples(task, lab16::Which::train);
  dist::data::DistributedSampler sampler(
      samples.size(),
      {.num_replicas = dist::get_world_size(), .rank = dist::get_rank(), .seed = task.at("seed")});
  Json losses = Json::array(), read_by = Json::array();
  for (const int epoch : task.at("epochs")) {
    ddp.eval();
    losses.push_back(lab::train_epoch({ddp, optimizer, sampler}, samples, task.at("batch"), epoch));
    read_by.push_back(samples.reads());
  }
  return {{"losses", losses},
          {"read_by", read_by},
          {"trained", model.trained()},
          {"evaluated", model.evaluated()},
          {"numbers", lab16::flat(model.state_dict())}};
}

Json evaluate(const Json& task) {
  Counting model(model_of(task));
  model.to(dist::get_device());
  const Hidden samples(task, lab16::Which::test);
  const double accuracy = lab::evaluate(model, samples);
  return {{"accuracy", accuracy}, {"trained", model.trained()}, {"evaluated", model.evaluated()}};
}

Json state_of(nn::Module& model, const nn::Optimizer& optimizer) {
  return {{"model", lab16::flat(model.state_dict())}, {"optimizer", lab16::flat(optimizer.state_dict())}};
}

const std::string older_file = "an older checkpoint";

// How `save` replaces the older file at that path. "was_without": there is a moment without one, because the
// older one is removed first. "was_overwritten": its own bytes are others now, whatever the path names.
template <class F>
Json replaced(const fs::path& file, const F& save) {
  std::ifstream older(file, std::ios::binary);
  guarded = file;
  was_removed = false;
  save();
  guarded.clear();
  const std::string left(std::istreambuf_iterator<char>(older), {});
  return {{"was_without", was_removed}, {"was_overwritten", older.is_open() && left != older_file}};
}

// A state that differs between ranks only as in a real run, which means not at all. "old": rank 0 finds an
// older file at the path.
Json save(const Json& task) {
  const Folder folder;
  if (task.value("old", false) && dist::get_rank() == 0) folder.write(older_file);
  Counting model(model_of(task));
  model.to(dist::get_device());
  auto optimizer = optimizer_of(model, task);
  for (auto* parameter : model.parameters()) parameter->grad.fill_(0.25);
  optimizer.step();
  Json reply = replaced(
      folder.file(), [&] { lab::save_checkpoint(folder.file(), model, optimizer, task.at("epochs_done")); });
  reply.update({{"state", state_of(model, optimizer)}, {"folder", folder.content()}});
  return reply;
}

Json load(const Json& task) {
  const Folder folder;
  folder.put(task.at("file"));
  Counting model(model_of(task));
  model.to(dist::get_device());
  auto optimizer = optimizer_of(model, task);
  const int epochs_done = lab::load_checkpoint(folder.file(), model, optimizer);
  return {{"state", state_of(model, optimizer)}, {"epochs_done", epochs_done}};
}

bool is_on_device(nn::Module& model) {
  return std::ranges::all_of(model.state_dict(),
                             [](const auto& one) { return one.tensor.device() == dist::get_device(); });
}

// "file": its initial content, null for no file.
Json train(const Json& task) {
  const Folder folder;
  if (!task.at("file").is_null()) folder.put(task.at("file"));
  Counting model(model_of(task));
  const auto samples = samples_of(task, lab16::Which::train), test = samples_of(task, lab16::Which::test);
  lab::Plan plan;
  plan.epochs = task.at("epochs");
  plan.batch_size = task.at("batch");
  plan.lr = task.at("lr");
  plan.momentum = task.at("momentum");
  plan.seed = task.at("seed");
  plan.resume = task.at("resume");
  if (task.at("checkpoint")) plan.checkpoint = folder.file();
  Json results = Json::array();
  try {
    for (const auto& epoch : lab::train_model(model, *samples, *test, plan))
      results.push_back({{"loss", epoch.loss}, {"accuracy", epoch.accuracy}});
  } catch (const Killed&) {
    results = nullptr;
  }
  return {{"results", results},
          {"trained", model.trained()},
          {"orders", model.orders()},
          {"numbers", lab16::flat(model.state_dict())},
          {"on_device", is_on_device(model)},
          {"folder", folder.content()}};
}

Json handle(const Json& task) {
  const std::string call = task.at("call");
  has_own_device = task.at("what") == "spots";  // oneDNN's convolutions know one CPU only
  // In a ring, the order of additions depends on the position of a gradient in its bucket.
  ::setenv("DIST_ALGO", "allreduce:ring", 1);
  dist::init_process_group();
  if (call == "step") return step(task);
  if (call == "epochs") return epochs(task);
  if (call == "evaluate") return evaluate(task);
  if (call == "save") return save(task);
  if (call == "load") return load(task);
  return train(task);
}

}  // namespace

int main() {
  return judge::serve([](const Json& task) { return judge::attempt([&] { return handle(task); }); });
}
