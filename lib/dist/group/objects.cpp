// Strings and bytes of any length: the lengths travel first, then the bytes. send_object() and recv_object()
// are two messages; the collectives exchange lengths and then bytes by the collectives on tensors.
#include <charconv>
#include <cstring>

#include <fmt/format.h>

#include "dist/core/counted.h"
#include "dist/core/fail.h"
#include "dist/group/call.h"
#include "dist/group/process_group.h"

namespace dist {
namespace {

using std::int64_t;

Tensor length_of(const std::string& object) { return tensor({static_cast<int64_t>(object.size())}, cpu); }

Tensor room_for(int64_t bytes) { return empty({bytes}, DType::u8, cpu); }

Tensor bytes_of(const std::string& object) {
  Tensor bytes = room_for(static_cast<int64_t>(object.size()));
  if (!object.empty()) std::memcpy(bytes.raw(), object.data(), object.size());
  return bytes;
}

std::string string_of(const Tensor& bytes) {
  return bytes.numel() == 0 ? std::string()
                            : std::string(static_cast<const char*>(bytes.raw()), bytes.nbytes());
}

std::vector<Tensor> rooms_for(const Tensor& lengths) {
  std::vector<Tensor> rooms;
  for (const auto length : lengths.data<int64_t>()) rooms.push_back(room_for(length));
  return rooms;
}

std::vector<Tensor> single_elements(const Tensor& t) {
  std::vector<Tensor> elements;
  for (int64_t i = 0; i < t.numel(); ++i) elements.push_back(t.narrow(i, 1));
  return elements;
}

std::vector<std::string> strings_of(const std::vector<Tensor>& list) {
  std::vector<std::string> strings;
  for (const auto& bytes : list) strings.push_back(string_of(bytes));
  return strings;
}

// Checks the options as the collective that is used would, and refuses what objects do not allow.
Call object_call(OpKind kind, std::string_view name, const Options& options, Caller at) {
  Call call(kind, name, options, at);
  if (options.async_op) call.refuse(".async_op is not possible: objects are exchanged synchronously");
  return call;
}

std::vector<std::string> objects_of(const std::string& list, Caller at) {
  std::vector<std::string> objects;
  const auto refuse = [&] {
    fail(Errc::mismatch, "recv_object_list at {}: what came is not a list; send_object_list() sends one",
         at.str());
  };
  const std::size_t end = list.find('\n');
  if (end == std::string::npos) refuse();
  std::size_t begin = end + 1;
  for (const char *now = list.data(), *const last = now + end; now < last;) {
    std::size_t size = 0;
    const auto [next, error] = std::from_chars(now, last, size);
    if (error != std::errc{} || size > list.size() - begin || next == last) refuse();
    objects.push_back(list.substr(begin, size));
    begin += size;
    now = next + 1;
  }
  if (begin != list.size()) refuse();
  return objects;
}

// Receives the second message, from the rank that the first one came from.
int recv_bytes(std::string& object, const Work& first, const Tensor& length, Options options, Caller at) {
  const int source = first.source_rank();
  options.group_src = -1;  // the source is known
  Tensor bytes = room_for(length.item<int64_t>());
  recv(bytes, source, options, at);
  object = string_of(bytes);
  return source;
}

}  // namespace

void broadcast_object(std::string& object, int src, const Options& options, Caller at) {
  Call call = object_call(OpKind::broadcast, "broadcast_object", options, at);
  call.set_root("src", src, options.group_src);
  Tensor length = length_of(object);
  broadcast(length, src, options, at);
  Tensor bytes = call.is_root() ? bytes_of(object) : room_for(length.item<int64_t>());
  broadcast(bytes, src, options, at);
  if (!call.is_root()) object = string_of(bytes);
}

void send_object(const std::string& object, int dst, const Options& options, Caller at) {
  (void)object_call(OpKind::send, "send_object", options, at);
  send(length_of(object), dst, options, at);
  send(bytes_of(object), dst, options, at);
}

int recv_object(std::string& object, int src, const Options& options, Caller at) {
  (void)object_call(OpKind::recv, "recv_object", options, at);
  Tensor length = empty({1}, DType::i64, cpu);
  return recv_bytes(object, recv(length, src, options, at), length, options, at);
}

int recv_object(std::string& object, const Options& options, Caller at) {
  (void)object_call(OpKind::recv, "recv_object", options, at);
  Tensor length = empty({1}, DType::i64, cpu);
  return recv_bytes(object, recv(length, options, at), length, options, at);
}

// A list travels as one object: the lengths as text, a line end, then all bytes.
void send_object_list(const std::vector<std::string>& objects, int dst, const Options& options, Caller at) {
  std::string lengths, bytes;
  for (const std::string& object : objects) {
    lengths += fmt::format("{} ", object.size());
    bytes += object;
  }
  send_object(lengths + "\n" + bytes, dst, options, at);
}

int recv_object_list(std::vector<std::string>& objects, int src, const Options& options, Caller at) {
  std::string list;
  const int source = recv_object(list, src, options, at);
  objects = objects_of(list, at);
  return source;
}

int recv_object_list(std::vector<std::string>& objects, const Options& options, Caller at) {
  std::string list;
  const int source = recv_object(list, options, at);
  objects = objects_of(list, at);
  return source;
}

std::vector<std::string> all_gather_object(const std::string& object, const Options& options, Caller at) {
  const Call call = object_call(OpKind::all_gather, "all_gather_object", options, at);
  Tensor lengths = empty({call.group.size()}, DType::i64, cpu);
  all_gather_into_tensor(lengths, length_of(object), options, at);
  std::vector<Tensor> list = rooms_for(lengths);
  all_gather(list, bytes_of(object), options, at);
  return strings_of(list);
}

std::vector<std::string> gather_object(const std::string& object, int dst, const Options& options,
                                       Caller at) {
  Call call = object_call(OpKind::gather, "gather_object", options, at);
  call.set_root("dst", dst, options.group_dst);
  Tensor lengths = empty({call.is_root() ? call.group.size() : 0}, DType::i64, cpu);
  std::vector<Tensor> list = single_elements(lengths);
  gather(length_of(object), list, dst, options, at);
  list = rooms_for(lengths);
  gather(bytes_of(object), list, dst, options, at);
  return strings_of(list);
}

std::string scatter_object(const std::vector<std::string>& objects, int src, const Options& options,
                           Caller at) {
  Call call = object_call(OpKind::scatter, "scatter_object", options, at);
  call.set_root("src", src, options.group_src);
  if (call.is_root() && objects.size() != static_cast<std::size_t>(call.group.size())) {
    call.refuse("there are {} for {}; it needs one per rank", counted(objects.size(), "object"),
                counted(call.group.size(), "rank"));
  }
  std::vector<Tensor> lengths, bytes;
  if (call.is_root()) {
    for (const auto& object : objects) {
      lengths.push_back(length_of(object));
      bytes.push_back(bytes_of(object));
    }
  }
  Tensor length = empty({1}, DType::i64, cpu);
  scatter(length, lengths, src, options, at);
  Tensor own = room_for(length.item<int64_t>());
  scatter(own, bytes, src, options, at);
  return string_of(own);
}

}  // namespace dist
