// Loading: first the index alone says whether every piece that is wanted is there; then file by file, every
// box of the file against every piece.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "dist/core/counted.h"
#include "dist/core/crc32.h"
#include "dist/core/fail.h"
#include "dist/core/shape.h"
#include "dist/group/check_same.h"
#include "dist/nn/safetensors.h"
#include "dist/parallel/checkpoint/saved_index.h"
#include "dist/parallel/checkpoint/sharded_checkpoint.h"

namespace dist {

namespace {

namespace fs = std::filesystem;

// What is to be read: the pieces that are wanted, by file, with what the index says of each.
struct Reading {
  fs::path from;
  SavedTensors tensors;
  std::vector<const SavedTensor*> entries;              // by piece
  std::map<std::string, std::set<std::size_t>> wanted;  // pieces, by file
};

std::int64_t in_common(const SavedPiece& saved, const Piece& wanted) {
  std::int64_t elements = 1;
  for (std::size_t k = 0; k < wanted.whole.size(); ++k)
    elements *= std::max<std::int64_t>(
        0, std::min(saved.offset[k] + saved.shape[k], wanted.offset[k] + wanted.data.shape()[k]) -
               std::max(saved.offset[k], wanted.offset[k]));
  return elements;
}

Reading planned(const fs::path& folder, const Pieces& pieces) {
  Reading reading{.from = folder / save_in_force(folder), .tensors = {}, .entries = {}, .wanted = {}};
  reading.tensors = read_index(reading.from);
  const std::string from = reading.from.string();
  for (const Piece& p : pieces) {
    auto found = reading.tensors.find(p.name);
    if (found == reading.tensors.end()) found = reading.tensors.find(p.fallback);
    if (found == reading.tensors.end())
      fail(Errc::invalid_argument, "{} has no \"{}\"; does it belong to another model?", from, p.name);
    const SavedTensor& entry = found->second;
    if (entry.shape != p.whole || entry.dtype != name(p.data.dtype()))
      fail(Errc::invalid_argument, "\"{}\" is {} {}, {} has {} {}; does it belong to another model?", p.name,
           to_string(p.whole), name(p.data.dtype()), from, to_string(entry.shape), entry.dtype);
    std::int64_t there = 0;
    for (const SavedPiece& saved : entry.pieces) {
      const std::int64_t common = in_common(saved, p);
      there += common;
      if (common > 0) reading.wanted[saved.file].insert(reading.entries.size());
    }
    if (there < p.data.numel())
      fail(Errc::invalid_argument, "{} lacks {} of \"{}\"; use another save", from,
           counted(p.data.numel() - there, "element"), p.name);
    reading.entries.push_back(&entry);
  }
  return reading;
}

void read(const Reading& reading, const Pieces& pieces) {
  for (const auto& [file, wanted] : reading.wanted) {
    const nn::StateDict saved = nn::load_safetensors(reading.from / file);
    for (const std::size_t i : wanted)
      for (const SavedPiece& piece : reading.entries[i]->pieces) {
        if (piece.file != file) continue;
        const Tensor* const data = nn::find(saved, piece.key);
        if (!data || data->shape() != piece.shape || data->dtype() != pieces[i].data.dtype())
          fail(Errc::invalid_argument,
               "{} does not have the piece of \"{}\" that its index names; use another save",
               (reading.from / file).string(), pieces[i].name);
        (void)copy_common({pieces[i].name, *data, pieces[i].whole, piece.offset}, pieces[i]);
      }
  }
}

// "save-000002, whose index has 1234 bytes and the checksum 9a8b7c6d": another on ranks that read another
// folder.
std::string of_index(const fs::path& save) {
  std::ifstream in(save / "index.json", std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  return fmt::format("{}, whose index has {} and the checksum {:08x}", save.filename().string(),
                     counted(text.size(), "byte"), crc32(std::as_bytes(std::span(text))));
}

// Every rank says what went wrong on it; the first one that failed is named on all.
template <class F>
void on_all(const ProcessGroup& group, CallSite at, const F& work) {
  std::string problem;
  try {
    work();
  } catch (const Error& error) {
    problem = error.what();
  }
  const auto problems = all_gather_object(problem, {.group = group}, at);
  for (std::size_t r = 0; r < problems.size(); ++r)
    if (!problems[r].empty())
      fail(Errc::invalid_argument, "loading failed on rank {}, and so on all: {}",
           group ? group.global_rank(static_cast<int>(r)) : static_cast<int>(r), problems[r]);
}

}  // namespace

void load_sharded(const fs::path& folder, const Pieces& pieces, Caller) {
  read(planned(folder, pieces), pieces);
}

nn::StateDict load_whole(const fs::path& folder, const std::function<bool(std::string_view name)>& wanted) {
  nn::StateDict all;
  Pieces pieces;
  for (const auto& [name, tensor] : read_index(folder / save_in_force(folder))) {
    if (!wanted(name)) continue;
    const auto dtype =
        std::ranges::find(all_dtypes, tensor.dtype, [](DType each) { return dist::name(each); });
    if (dtype == all_dtypes.end())
      fail(Errc::invalid_argument, "{}: \"{}\" is {}, which is not a dtype of distlab", folder.string(), name,
           tensor.dtype);
    all.push_back({name, zeros(tensor.shape, *dtype, cpu)});
    pieces.push_back({name, all.back().tensor, tensor.shape, Shape(tensor.shape.size(), 0)});
  }
  load_sharded(folder, pieces);
  return all;
}

// Nothing is filled before every rank has found all that it wants.
void load_sharded(const fs::path& folder, const Pieces& pieces, const ShardedCheckpointOptions& options,
                  Caller at) {
  Reading reading;
  on_all(options.group, at, [&] { reading = planned(folder, pieces); });
  check_same("load_sharded",
             fmt::format("the save {}\nthe folder {}", of_index(reading.from), one_spelling(folder).string()),
             options.group, at);
  on_all(options.group, at, [&] { read(reading, pieces); });
}

}  // namespace dist
