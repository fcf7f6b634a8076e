// Saving: every rank tells the others its boxes; from the same list each computes the same plan (which rank
// writes which box, index.json); a thread writes the file; finish() agrees on success, and rank 0 puts the
// save in force. Loading: file by file, every box of the file against every piece that is wanted.
#include "dist/parallel/checkpoint/sharded_checkpoint.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "dist/core/counted.h"
#include "dist/core/fail.h"
#include "dist/core/json.h"
#include "dist/core/shape.h"
#include "dist/core/whole_file.h"
#include "dist/nn/safetensors.h"
#include "dist/parallel/checkpoint/saved_index.h"

namespace dist {

namespace {

namespace fs = std::filesystem;

std::string file_of(int rank) { return fmt::format("rank-{:05}.safetensors", rank); }

void write_text(const fs::path& path, const std::string& text) {
  WholeFile file(path);
  file.write(std::as_bytes(std::span(text)));
  file.finish(true);
}

// What a rank has, for the others.
std::string told(const Pieces& pieces) {
  Json all = Json::array();
  for (const Piece& p : pieces)
    all.push_back({p.name, std::string(name(p.data.dtype())), p.whole, p.offset, p.data.shape()});
  return json_text(all);
}

struct Plan {
  Json tensors = Json::object();      // the index
  std::vector<std::string> own_keys;  // of this rank's pieces, in their order; empty: another rank writes it
};

// Each distinct box goes to the first rank that has it.
Plan planned(const std::vector<std::string>& all, int rank) {
  Plan plan;
  std::set<std::string> written;
  for (int r = 0; r < static_cast<int>(all.size()); ++r) {
    int number = 0;
    for (const Json& box : parse_json(all[static_cast<std::size_t>(r)])) {
      const auto tensor = box[0].get<std::string>();
      Json& entry = plan.tensors[tensor];
      if (entry.is_null()) entry = {{"dtype", box[1]}, {"shape", box[2]}, {"pieces", Json::array()}};
      if (entry["dtype"] != box[1] || entry["shape"] != box[2])
        fail(Errc::mismatch,
             "\"{}\" is {} {} on rank {}, and {} {} on an earlier one: save the same model on every rank",
             tensor, json_text(box[2]), box[1].get<std::string>(), r, json_text(entry["shape"]),
             entry["dtype"].get<std::string>());
      const bool is_first = product(box[4].get<Shape>()) > 0 &&
                            written.insert(tensor + json_text(box[3]) + json_text(box[4])).second;
      std::string key = is_first ? fmt::format("{}#{}", tensor, number++) : "";
      if (is_first)
        entry["pieces"].push_back(
            {{"file", file_of(r)}, {"key", key}, {"offset", box[3]}, {"shape", box[4]}});
      if (r == rank) plan.own_keys.push_back(std::move(key));
    }
  }
  for (const auto& [tensor, entry] : plan.tensors.items()) {
    std::int64_t covered = 0;
    for (const Json& piece : entry["pieces"]) covered += product(piece["shape"].get<Shape>());
    if (covered < product(entry["shape"].get<Shape>()))
      fail(Errc::mismatch,
           "of \"{}\", {}, the ranks have {} elements together: pass the pieces of all ranks of the mesh",
           tensor, json_text(entry["shape"]), covered);
  }
  return plan;
}

// The folders of all saves but one. Entries with other names, and links, are not of this library.
std::vector<fs::path> saves_but(const fs::path& folder, std::string_view kept) {
  std::vector<fs::path> saves;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string found = entry.path().filename().string();
    if (found != kept && save_number(found) && entry.symlink_status().type() == fs::file_type::directory)
      saves.push_back(entry.path());
  }
  return saves;
}

// Makes the folder of a new save, with a number that no entry has. Removes first what killed saves have left:
// the disk may be full of it.
fs::path made_save(const fs::path& folder) {
  fs::create_directories(folder);
  std::int64_t number = 1;
  if (has_sharded(folder)) {
    const std::string kept = save_in_force(folder);
    number = *save_number(kept) + 1;
    for (const fs::path& save : saves_but(folder, kept)) fs::remove_all(save);
  }
  const auto named = [&] { return folder / fmt::format("save-{:06}", number); };
  while (fs::exists(fs::symlink_status(named()))) ++number;
  fs::create_directory(named());
  return named();
}

}  // namespace

struct ShardedSave::State {
  fs::path folder, save;
  ProcessGroup group;
  CallSite at;
  Json tensors;
  nn::StateDict own;
  std::thread writer;
  std::string problem;  // of this rank; read after the writer has ended

  void write(int rank) {
    try {
      nn::save_safetensors(save / file_of(rank), own);
    } catch (const std::exception& error) {
      problem = error.what();
    }
  }
};

ShardedSave::ShardedSave(const fs::path& folder, const Pieces& pieces,
                         const ShardedCheckpointOptions& options, Caller at)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.folder = folder, s.group = options.group, s.at = at;
  const int rank = get_rank(s.group, at);
  Plan plan = planned(all_gather_object(told(pieces), {.group = s.group}, at), rank);
  s.tensors = std::move(plan.tensors);
  std::string save;
  if (rank == 0) {
    try {
      save = made_save(folder).string();
    } catch (const fs::filesystem_error& error) {
      s.problem = fmt::format("{}: {}", error.path1().string(), error.code().message());
    } catch (const Error& error) {
      s.problem = error.what();
    }
  }
  broadcast_object(save, s.group ? s.group.global_rank(0) : 0, {.group = s.group}, at);
  s.save = save;
  for (std::size_t i = 0; i < pieces.size(); ++i)
    if (!plan.own_keys[i].empty()) s.own.push_back({plan.own_keys[i], pieces[i].data.to(cpu).clone()});
  if (!save.empty()) s.writer = std::thread([&s, rank] { s.write(rank); });
}

ShardedSave::~ShardedSave() {
  if (state_->writer.joinable()) state_->writer.join();
}

void ShardedSave::finish() {
  State& s = *state_;
  if (s.writer.joinable()) s.writer.join();
  const auto problems = all_gather_object(s.problem, {.group = s.group}, s.at);
  const bool is_first = get_rank(s.group, s.at) == 0;
  const auto failed = std::ranges::find_if(problems, [](const auto& text) { return !text.empty(); });
  if (failed != problems.end()) {
    std::error_code ignored;
    if (is_first && !s.save.empty()) fs::remove_all(s.save, ignored);
    fail(Errc::resource, "saving {}: rank {}: {}{}", s.folder.string(), failed - problems.begin(), *failed,
         has_sharded(s.folder) ? "; the previous save is still in force" : "");
  }
  std::string problem;
  if (is_first) {
    try {
      write_text(s.save / "index.json",
                 json_text(Json{{"format", "distlab sharded 1"}, {"tensors", s.tensors}}, 1));
      write_text(s.folder / in_force_file, json_text(Json{{"save", s.save.filename().string()}}) + "\n");
      for (const fs::path& save : saves_but(s.folder, s.save.filename().string())) fs::remove_all(save);
    } catch (const std::exception& error) {
      problem = error.what();
    }
  }
  broadcast_object(problem, s.group ? s.group.global_rank(0) : 0, {.group = s.group}, s.at);
  if (!problem.empty()) fail(Errc::resource, "saving {}: {}", s.folder.string(), problem);
}

void save_sharded(const fs::path& folder, const Pieces& pieces, const ShardedCheckpointOptions& options,
                  Caller at) {
  ShardedSave(folder, pieces, options, at).finish();
}

bool has_sharded(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / in_force_file, ignored);
}

bool has_sharded(const fs::path& folder, std::string_view tensor) {
  return read_index(folder / save_in_force(folder)).contains(tensor);
}

void load_sharded(const fs::path& folder, const Pieces& pieces, Caller) {
  const fs::path from = folder / save_in_force(folder);
  const SavedTensors tensors = read_index(from);
  std::map<std::string, std::set<std::size_t>> wanted_by_file;
  std::vector<const SavedTensor*> entries;
  for (const Piece& p : pieces) {
    const auto found = tensors.find(p.name);
    if (found == tensors.end())
      fail(Errc::invalid_argument, "{} has no \"{}\"; does it belong to another model?", from.string(),
           p.name);
    const SavedTensor& entry = found->second;
    if (entry.shape != p.whole || entry.dtype != name(p.data.dtype()))
      fail(Errc::invalid_argument, "\"{}\" is {} {}, {} has {} {}; does it belong to another model?", p.name,
           to_string(p.whole), name(p.data.dtype()), from.string(), to_string(entry.shape), entry.dtype);
    for (const SavedPiece& piece : entry.pieces) wanted_by_file[piece.file].insert(entries.size());
    entries.push_back(&entry);
  }
  std::vector<std::int64_t> filled(pieces.size());
  for (const auto& [file, wanted] : wanted_by_file) {
    const nn::StateDict saved = nn::load_safetensors(from / file);
    for (const std::size_t i : wanted) {
      for (const SavedPiece& piece : entries[i]->pieces) {
        if (piece.file != file) continue;
        const Tensor* const data = nn::find(saved, piece.key);
        if (!data || data->shape() != piece.shape || data->dtype() != pieces[i].data.dtype())
          fail(Errc::invalid_argument,
               "{} does not have the piece of \"{}\" that its index names; use another save",
               (from / file).string(), pieces[i].name);
        filled[i] += copy_common({pieces[i].name, *data, pieces[i].whole, piece.offset}, pieces[i]);
      }
    }
  }
  for (std::size_t i = 0; i < pieces.size(); ++i)
    if (filled[i] < pieces[i].data.numel())
      fail(Errc::invalid_argument, "{} lacks {} of \"{}\"; use another save", from.string(),
           counted(pieces[i].data.numel() - filled[i], "element"), pieces[i].name);
}

}  // namespace dist
