// The kernels of the fake device: those of GPUs, run on the CPU by a stream.
#include <array>
#include <cstring>
#include <list>

#include "dist/core/device/cuda/kernels.h"
#include "dist/core/fail.h"

#include "support/fake_device.h"

namespace dist::test {

// Where the bytes of device memory are, on whichever of the devices (they are peers); null for host memory.
std::byte* FakeDevice::locate(const void* pointer, std::size_t bytes) {
  for (const auto& device : devices_)
    if (std::byte* found = device->memory.locate(pointer, bytes)) return found;
  for (const auto& device : devices_)
    if (device->memory.owns(pointer))
      fail(Errc::internal, "{} bytes at {} reach outside every block allocated on the fake device", bytes,
           pointer);
  return nullptr;
}

TensorView FakeDevice::locate(Device device, const TensorView& view) {
  if (view.device != device)
    fail(Errc::internal, "a kernel of {} was given a view on {}", device.str(), view.device.str());
  std::byte* found = locate(view.data, view.bytes());
  if (!found)
    fail(Errc::internal, "a kernel of {} was given host memory at {}", device.str(), fmt::ptr(view.data));
  return {found, view.count, view.dtype, cpu};
}

void FakeDevice::load_kernels(Device device) {
  cuda_kernels::load_kernels(device);
  const std::scoped_lock lock(mutex_);
  at(device).has_kernels = true;
}

void FakeDevice::launch(Device device, StreamHandle handle, std::function<void()> work) {
  if (at(device).fails) fail(Errc::internal, "this kernel does not start");
  StreamHandle const on = resolve(device, handle);
  if (Capture* const capture = capture_of(on)) return capture->add(on, std::move(work));
  ++launches_;
  stream(device, handle).enqueue(std::move(work));
}

void FakeDevice::enqueue(Device device, StreamHandle handle, std::function<void()> work) {
  const std::scoped_lock lock(mutex_);
  launch(device, handle, std::move(work));
}

TensorView FakeDevice::on_host(Device device, const TensorView& view) {
  const std::scoped_lock lock(mutex_);
  return locate(device, view);
}

void FakeDevice::copy(Device device, StreamHandle handle, void* to, const void* from, std::size_t bytes) {
  const std::scoped_lock lock(mutex_);
  std::byte* const to_device = locate(to, bytes);
  const std::byte* const from_device = locate(from, bytes);
  if (!to_device && !from_device)
    fail(Errc::internal, "a copy of {} has no side on the device", device.str());
  void* const target = to_device ? to_device : to;
  const void* const source = from_device ? from_device : from;
  if (!(to_device && from_device)) break_capture(device, handle, "a copy from or to the host");
  if (!capture_of(resolve(device, handle))) ++copies_;
  if (!(to_device && from_device)) host_bytes_ += bytes;
  if (bytes > 0 && !(to_device && from_device) && !is_registered(to_device ? from : to)) {
    ++detours_;
    if (!stream(device, handle).is_idle()) ++waiting_detours_;
  }
  launch(device, handle, [=] { std::memmove(target, source, bytes); });
}

void FakeDevice::copy_rows(Device device, StreamHandle handle, void* to, const void* from,
                           const RowCopy& rows) {
  const std::scoped_lock lock(mutex_);
  const auto side = [&](const void* pointer, std::size_t pitch) {
    std::byte* const on_device = locate(pointer, (rows.count - 1) * pitch + rows.bytes);
    if (!on_device || pitch < rows.bytes)
      fail(Errc::internal, "copy_rows on {}: a side is wrong", device.str());
    return on_device;
  };
  std::byte* const target = side(to, rows.to_pitch);
  const std::byte* const source = side(from, rows.from_pitch);
  launch(device, handle, [=] {
    for (std::size_t i = 0; i < rows.count; ++i)
      std::memmove(target + i * rows.to_pitch, source + i * rows.from_pitch, rows.bytes);
  });
}

void FakeDevice::fill(Device device, StreamHandle handle, TensorView view, double value) {
  const std::scoped_lock lock(mutex_);
  launch(device, handle, [v = locate(device, view), value] { cuda_kernels::fill(nullptr, v, value); });
}

void FakeDevice::scale(Device device, StreamHandle handle, TensorView view, double factor) {
  const std::scoped_lock lock(mutex_);
  launch(device, handle, [v = locate(device, view), factor] { cuda_kernels::scale(nullptr, v, factor); });
}

void FakeDevice::divide(Device device, StreamHandle handle, TensorView view, std::int64_t divisor) {
  const std::scoped_lock lock(mutex_);
  launch(device, handle, [v = locate(device, view), divisor] { cuda_kernels::divide(nullptr, v, divisor); });
}

void FakeDevice::reduce(Device device, StreamHandle handle, TensorView acc, TensorView in, ReduceOp op) {
  const std::scoped_lock lock(mutex_);
  ++reductions_;
  launch(device, handle, [a = locate(device, acc), i = locate(device, in), op] {
    cuda_kernels::reduce_many(nullptr, {&a, 1}, std::array{a, i}, op);
  });
}

void FakeDevice::reduce_many(Device device, StreamHandle handle, std::span<const TensorView> outs,
                             std::span<const TensorView> ins, ReduceOp op) {
  const PartViews all{.outs = outs, .ins = ins};
  reduce_parts(device, handle, {&all, 1}, op);
}

namespace {

// A list whose addresses stay in place until its kernel runs.
class LocatedParts {
 public:
  template <class Locate>
  LocatedParts(std::span<const PartViews> parts, const Locate& locate) {
    const auto located = [&](std::span<const TensorView> views) -> std::span<const TensorView> {
      auto& here = views_.emplace_back();
      for (const TensorView& view : views) here.push_back(locate(view));
      return here;
    };
    for (const PartViews& part : parts)
      if (part.ins[0].count > 0) parts_.push_back({.outs = located(part.outs), .ins = located(part.ins)});
  }
  bool empty() const { return parts_.empty(); }
  operator std::span<const PartViews>() const { return parts_; }

 private:
  std::list<std::vector<TensorView>> views_;
  std::vector<PartViews> parts_;
};

}  // namespace

void FakeDevice::copy_parts(Device device, StreamHandle handle, std::span<const PartViews> parts) {
  const std::scoped_lock lock(mutex_);
  const auto here =
      std::make_shared<LocatedParts>(parts, [&](const TensorView& view) { return locate(device, view); });
  if (!here->empty()) launch(device, handle, [here] { cuda_kernels::copy_parts(nullptr, *here); });
}

void FakeDevice::reduce_parts(Device device, StreamHandle handle, std::span<const PartViews> parts,
                              ReduceOp op) {
  const std::scoped_lock lock(mutex_);
  const auto here =
      std::make_shared<LocatedParts>(parts, [&](const TensorView& view) { return locate(device, view); });
  if (here->empty()) return;
  ++reductions_;
  launch(device, handle, [here, op] { cuda_kernels::reduce_parts(nullptr, *here, op); });
}

void FakeDevice::convert(Device device, StreamHandle handle, TensorView to, TensorView from) {
  const std::scoped_lock lock(mutex_);
  launch(device, handle,
         [t = locate(device, to), f = locate(device, from)] { cuda_kernels::convert(nullptr, t, f); });
}

void FakeDevice::unary(Device device, StreamHandle handle, TensorView out, TensorView in, UnaryOp op) {
  const std::scoped_lock lock(mutex_);
  launch(device, handle,
         [o = locate(device, out), i = locate(device, in), op] { cuda_kernels::unary(nullptr, o, i, op); });
}

void FakeDevice::binary(Device device, StreamHandle handle, TensorView out, TensorView a, TensorView b,
                        BinaryOp op) {
  const std::scoped_lock lock(mutex_);
  launch(device, handle, [o = locate(device, out), x = locate(device, a), y = locate(device, b), op] {
    cuda_kernels::binary(nullptr, o, x, y, op);
  });
}

void FakeDevice::add_scaled(Device device, StreamHandle handle, TensorView acc, TensorView in, double alpha) {
  const std::scoped_lock lock(mutex_);
  launch(device, handle, [a = locate(device, acc), i = locate(device, in), alpha] {
    cuda_kernels::add_scaled(nullptr, a, i, alpha);
  });
}

}  // namespace dist::test
