// The process of one rank in the grading of lab 01: it calls the graded functions as the grader's task says.
#include "judge/runner.h"

#include <nlohmann/json.hpp>

#include "dist/core/deadline.h"
#include "dist/core/fail.h"
#include "dist/group/process_group.h"
#include "dist/store/tcp_store.h"

#include "init_process_group.h"

namespace {

using judge::attempt, judge::from_hex, judge::Json, judge::to_hex;

lab::Place place_from(const Json& json) {
  return {json.at("rank"), json.at("local_rank"), json.at("world_size")};
}

// The job's store. It gives up at once if a deadline has passed, and it may be lost for readers.
class Observed : public dist::Store {
 public:
  Observed(std::shared_ptr<dist::Store> store, bool is_lost) : store_(std::move(store)), is_lost_(is_lost) {}
  void set(std::string_view key, dist::ConstBytes value) override { store_->set(key, value); }
  dist::Bytes get(std::string_view key, dist::Deadline deadline) override {
    expect_time({std::string(key)}, deadline);
    return store_->get(key, deadline);
  }
  std::int64_t add(std::string_view key, std::int64_t delta) override { return store_->add(key, delta); }
  dist::Bytes compare_set(std::string_view key, dist::ConstBytes expected,
                          dist::ConstBytes desired) override {
    return store_->compare_set(key, expected, desired);
  }
  void wait(std::span<const std::string> keys, dist::Deadline deadline) override {
    expect_time({keys.begin(), keys.end()}, deadline);
    store_->wait(keys, deadline);
  }
  bool check(std::span<const std::string> keys) override {
    if (is_lost_) dist::fail(dist::Errc::connection, "the store at {} was lost", where());
    return store_->check(keys);
  }
  bool remove(std::string_view key) override { return store_->remove(key); }
  std::int64_t num_keys() override { return store_->num_keys(); }
  std::string where() const override { return store_->where(); }

 private:
  void expect_time(const std::vector<std::string>& keys, dist::Deadline deadline) {
    if (!check(keys) && deadline.passed())
      dist::fail(dist::Errc::timeout, "the deadline had passed before the keys were asked for");
  }
  const std::shared_ptr<dist::Store> store_;
  const bool is_lost_;
};

std::shared_ptr<dist::Store> store_of(const Json& task) {
  return std::make_shared<Observed>(dist::make_tcp_store(task.at("store"), task.at("token"),
                                                         dist::Deadline::after(std::chrono::seconds(10))),
                                    task.at("loses_store"));
}

dist::Timeout timeout_of(const Json& task) {
  const int ms = task.at("timeout_ms");
  return ms < 0 ? dist::no_timeout : std::chrono::milliseconds(ms);
}

// Fills the memory that the next tensors will get with non-zero bytes, so that missing padding is visible.
void soil_memory() {
  std::vector<dist::Tensor> held;
  for (int i = 0; i < 64; ++i) held.push_back(dist::full({1 << (i % 13)}, 0xA5, dist::DType::u8));
}

// For every case {nodes, node, local_rank}, the place.
Json places(const Json& task) {
  Json answers = Json::array();
  for (const auto& one : task.at("cases")) {
    answers.push_back(attempt([&] {
      const auto place = lab::place_of(one.at("nodes"), one.at("node"), one.at("local_rank"));
      return Json{{"rank", place.rank}, {"local_rank", place.local_rank}, {"world_size", place.world_size}};
    }));
  }
  return answers;
}

Json rendezvous(const Json& task) {
  const auto store = store_of(task);
  return attempt([&] {
    Json entries = Json::array();
    for (const auto& entry :
         lab::rendezvous(store, task.at("job"), place_from(task.at("place")),
                         from_hex(task.at("entry").get<std::string>()), timeout_of(task))) {
      entries.push_back(to_hex(entry));
    }
    return entries;
  });
}

Json descriptions(const Json& task) {
  Json answers = Json::array();
  for (const auto& one : task.at("cases")) {
    const lab::Process process{one.at("pid"), one.at("host"), one.at("gpus"), place_from(one.at("place"))};
    answers.push_back(attempt([&] { return to_hex(lab::describe(process)); }));
  }
  return answers;
}

// For every case {text, size}, the tensor's dtype, shape and bytes.
Json packed(const Json& task) {
  Json answers = Json::array();
  for (const auto& one : task.at("cases")) {
    const auto text = from_hex(one.at("text").get<std::string>());
    soil_memory();
    answers.push_back(attempt([&] {
      const auto tensor = lab::pack(text, one.at("size"));
      if (!tensor.is_defined()) return Json{{"dtype", "none"}};
      const auto* bytes = static_cast<const char*>(tensor.raw());
      return Json{{"dtype", name(tensor.dtype())},
                  {"shape", tensor.shape()},
                  {"bytes", to_hex({bytes, tensor.nbytes()})}};
    }));
  }
  return answers;
}

// For every case {bytes}, the text.
Json unpacked(const Json& task) {
  Json answers = Json::array();
  for (const auto& one : task.at("cases")) {
    const auto bytes = from_hex(one.at("bytes").get<std::string>());
    const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data());
    const auto tensor = dist::tensor(std::span<const std::uint8_t>(first, bytes.size()));
    answers.push_back(attempt([&] { return to_hex(lab::unpack(tensor)); }));
  }
  return answers;
}

// One exchange after another, as a rank of the grader's simulation: {text: this rank's, size}.
Json exchanges(const Json& task) {
  dist::init_process_group();
  Json answers = Json::array();
  for (const auto& one : task.at("rounds")) {
    const auto text = from_hex(one.at("text").get<std::string>());
    soil_memory();
    Json texts = Json::array();
    for (const auto& received : lab::exchange(text, one.at("size"))) texts.push_back(to_hex(received));
    answers.push_back(texts);
  }
  return answers;
}

}  // namespace

int main() {
  return judge::serve([](const Json& task) -> Json {
    const std::string call = task.at("call");
    if (call == "place_of") return places(task);
    if (call == "rendezvous") return rendezvous(task);
    if (call == "describe") return descriptions(task);
    if (call == "pack") return packed(task);
    if (call == "unpack") return unpacked(task);
    if (call == "exchange") return attempt([&] { return exchanges(task); });
    throw std::logic_error("no such call: " + call);
  });
}
