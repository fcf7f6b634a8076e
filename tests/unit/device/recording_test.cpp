// Work that is recorded instead of done: graphs, what the host does between them, and their memory.
#include "dist/core/device/recording.h"

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "dist/core/tensor.h"

#include "support/expect_error.h"
#include "support/fake_device.h"

namespace dist::test {
namespace {

const Device gpu = cuda(0);

std::vector<float> read(const Tensor& t) { return t.to_vector<float>(); }

TEST(Recording, IsDoneWhenItIsLaunchedAndEachTime) {
  const FakeDeviceGuard fake({.longest_rest = std::chrono::microseconds(300)});
  Tensor x = ones({3}, DType::f32, gpu);
  const Tensor y = full({3}, 2, DType::f32, gpu);
  Recording recording(gpu);
  for (int i = 0; i < 5; ++i) x.add_(y);
  RecordedWork work = recording.finish();
  EXPECT_EQ(read(x), std::vector<float>(3, 1)) << "recorded, not done";
  EXPECT_EQ(work.graphs(), 1U);
  const std::size_t before = fake->launches();
  work.launch();
  work.launch();
  EXPECT_EQ(fake->launches(), before + 2) << "five kernels are one launch";
  EXPECT_EQ(read(x), std::vector<float>(3, 21));
}

TEST(Recording, TheHostActsBetweenGraphs) {
  const FakeDeviceGuard fake({.longest_rest = std::chrono::microseconds(300)});
  Tensor x = ones({1}, DType::f32, gpu);
  const Tensor one = ones({1}, DType::f32, gpu);
  std::vector<float> seen;
  Recording recording(gpu);
  Recording::between([&] { seen.push_back(-1); });  // nothing is recorded before it
  x.add_(one);
  Recording::between([&] { seen.push_back(x.item<float>()); });
  Recording::between([&] { EXPECT_EQ(Recording::current(), nullptr) << "here everything runs as usual"; });
  x.mul_(10);
  RecordedWork work = recording.finish();
  EXPECT_TRUE(seen.empty());
  EXPECT_EQ(work.graphs(), 2U) << "empty ones are left out";
  work.launch();
  work.launch();
  EXPECT_EQ(seen, (std::vector<float>{-1, 2, -1, 21}));
  EXPECT_EQ(x.item<float>(), 210);
  int calls = 0;
  Recording::between([&] { ++calls; });
  EXPECT_EQ(calls, 1) << "at once where nothing is recorded";
}

// A tensor made during a recording keeps its memory for all launches; one that is destroyed passes it on to
// the next.
TEST(Recording, KeepsTheMemoryOfWhatIsMadeMeanwhile) {
  for (const bool caches : {false, true}) {
    const FakeDeviceGuard fake({.longest_rest = std::chrono::microseconds(300), .caches = caches});
    const Tensor x = full({1000}, 3, DType::f32, gpu);
    {
      Tensor result;
      Recording recording(gpu);
      const void* first = nullptr;
      for (int i = 0; i < 4; ++i) {
        const Tensor doubled = x * 2;  // gone at the end of the block
        if (i == 0) first = doubled.raw();
        EXPECT_EQ(doubled.raw(), first) << "one block serves all";
        result = result.is_defined() ? result + doubled : x + doubled;
      }
      RecordedWork work = recording.finish();
      for (int i = 0; i < 3; ++i) {
        std::vector<Tensor> others;
        for (int k = 0; k < 8; ++k) others.push_back(full({1000}, -1, DType::f32, gpu));
        work.launch();
        EXPECT_EQ(read(result), std::vector<float>(1000, 27)) << "launch " << i;
        for (const Tensor& other : others) EXPECT_EQ(read(other), std::vector<float>(1000, -1));
      }
      const RecordedWork moved = std::move(work);
      EXPECT_EQ(fake->graphs_alive(), 1U);
    }
    EXPECT_EQ(fake->graphs_alive(), 0U);
    if (!caches) {
      for (int i = 0; i < 1000 && fake->in_use(gpu) > 4096; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      EXPECT_LE(fake->in_use(gpu), 4096U) << "x alone";
    }
  }
}

// What is freed while something is recorded is freed afterwards, and other threads free as usual.
TEST(Recording, FreeingMemoryDoesNotDisturbIt) {
  for (const bool caches : {false, true}) {
    const FakeDeviceGuard fake({.longest_rest = std::chrono::microseconds(300), .caches = caches});
    Tensor x = ones({100}, DType::f32, gpu), old = ones({100}, DType::f32, gpu);
    Tensor of_another_thread;
    std::thread([&] { of_another_thread = ones({100}, DType::f32, gpu); }).join();
    Recording recording(gpu);
    x.add_(x);
    old = Tensor();
    std::thread([&] { of_another_thread = Tensor(); }).join();
    x.add_(x);
    RecordedWork work = recording.finish();
    EXPECT_EQ(work.graphs(), 1U);
    work.launch();
    EXPECT_EQ(read(x), std::vector<float>(100, 4));
  }
}

TEST(Recording, RefusesWhatTheHostWouldDoOnlyOnce) {
  const FakeDeviceGuard fake;
  Tensor x = ones({1}, DType::f32, gpu);
  const Tensor on_host = ones({1});
  {
    const Recording recording(gpu);
    x.add_(x);
    expect_error(Errc::unsupported,
                 {"a copy between host and device at recording_test.cpp:",
                  "while a step is recorded as a graph: later steps would not do it"},
                 [&] { x.item<float>(); });
    EXPECT_DIST_ERROR(x.copy_(on_host), Errc::unsupported,
                      "a copy between host and device at recording_test.cpp:");
    EXPECT_DIST_ERROR(const Recording second(gpu), Errc::invalid_argument,
                      "this thread is already recording");
  }
  EXPECT_EQ(Recording::current(), nullptr);
  EXPECT_EQ(x.item<float>(), 1) << "given up, and done as usual from then on";
  EXPECT_EQ(fake->graphs_alive(), 0U);
}

TEST(Recording, IsForOneThreadAndOneStream) {
  const FakeDeviceGuard fake;
  Tensor x = ones({1}, DType::f32, gpu);
  Recording recording(gpu);
  x.add_(x);
  RecordedWork work = recording.finish();
  std::thread([&] {
    EXPECT_DIST_ERROR(work.launch(), Errc::invalid_argument, "on a thread or stream other than");
  }).join();
  const Stream stream(gpu);
  {
    const StreamGuard on(gpu, stream.handle());
    EXPECT_DIST_ERROR(work.launch(), Errc::invalid_argument, "on a thread or stream other than");
  }
  work.launch();
  EXPECT_EQ(x.item<float>(), 2);
}

// What a recording does around its graphs, and what is done in parallel with the recorded stream.
TEST(Recording, WorkBesideTheStreamIsOrderedByForkAndJoin) {
  const FakeDeviceGuard fake({.longest_rest = std::chrono::microseconds(100)});
  Tensor x = ones({1}, DType::f32, gpu), y = ones({1}, DType::f32, gpu);
  const Tensor one = ones({1}, DType::f32, gpu);
  const Stream side(gpu);
  Recording recording(gpu);
  x.add_(one);
  recording.fork(side.handle());
  {
    const StreamGuard beside(gpu, side.handle());
    y.add_(x);
  }
  Tensor z = one + one;
  recording.join(side.handle());
  x.add_(y);
  RecordedWork work = recording.finish();
  float expected_x = 1, expected_y = 1;
  for (int i = 0; i < 20; ++i) {
    work.launch();
    expected_y += ++expected_x;
    expected_x += expected_y;
    EXPECT_EQ(x.item<float>(), expected_x) << "launch " << i;
    EXPECT_EQ(z.item<float>(), 2);
  }
}

TEST(Recording, TheHostActsAroundAGraph) {
  const FakeDeviceGuard fake;
  class Notes final : public AroundLaunch {
   public:
    explicit Notes(std::string& all) : all_(all) {}
    void before() override { all_ += '('; }
    void after() override { all_ += ')'; }

   private:
    std::string& all_;
  };
  std::string notes;
  Tensor x = ones({1}, DType::f32, gpu);
  Recording recording(gpu);
  const auto make = [&] { return std::make_unique<Notes>(notes); };
  AroundLaunch& first = recording.around(&notes, make);
  EXPECT_EQ(&recording.around(&notes, make), &first) << "one per owner";
  x.add_(x);
  Recording::between([&] { notes += '-'; });
  x.add_(x);
  Recording::aside([&] { EXPECT_EQ(Recording::current(), nullptr); });
  EXPECT_EQ(Recording::current(), &recording);
  RecordedWork work = recording.finish();
  work.launch();
  EXPECT_EQ(notes, "()-");
  work.launch_graphs_alone();
  EXPECT_EQ(notes, "()-()");
}

// The fake device is as strict as CUDA: these calls would break a capture.
TEST(FakeGraphs, ACaptureIsBrokenByWhatCudaRefuses) {
  const FakeDeviceGuard fake;
  Tensor x = ones({1}, DType::f32, gpu);
  Event event(gpu), elsewhere(gpu);
  const Stream other(gpu);
  elsewhere.record(other.handle());
  fake->synchronize(gpu, nullptr);
  const auto broken = [&](const auto& act, const char* what) {
    fake->begin_capture(gpu, nullptr);
    expect_error(Errc::internal, {what, "is not permitted when the stream is capturing"}, act);
    expect_error(Errc::internal, {"the capture was invalidated by", what},
                 [&] { fake->end_capture(gpu, nullptr); });
  };
  broken([&] { event.record(nullptr); }, "an event");
  broken([&] { fake->synchronize(gpu, nullptr); }, "a wait of the host");
  broken([&] { elsewhere.make_wait(gpu, nullptr); }, "a wait for an event");
  fake->begin_capture(gpu, nullptr);
  fake->fork_capture(gpu, nullptr, other.handle());
  {
    const StreamGuard beside(gpu, other.handle());
    x.add_(x);
  }
  EXPECT_DIST_ERROR(fake->end_capture(gpu, nullptr), Errc::internal, "before all its streams are joined");
  EXPECT_EQ(x.item<float>(), 1);
}

}  // namespace
}  // namespace dist::test
