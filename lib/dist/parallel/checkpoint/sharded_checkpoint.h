// Sharded checkpoints: each rank writes its own pieces, and an index says where every tensor is; a job of any
// other size or mesh loads them. As torch.distributed.checkpoint.
//
//   FOLDER/checkpoint.json        which save counts: {"save": "save-000002"}; replaced atomically at the end
//   FOLDER/save-000002/           index.json: dtype and shape of each tensor, and of its pieces file, key,
//                                 offset and shape
//                                 rank-00000.safetensors, ...: the pieces; one rank writes a piece that
//                                 several ranks have
//
//   save_sharded("run", all_pieces_of(model, optimizer));   // and load_sharded() with the same pieces
//
// A save that is killed leaves the previous one in force; the next save removes what is left of it. Nothing
// else in the folder is touched. A save that begins in a folder in which this job's previous one is not
// finished finishes that one first. One job per folder at a time.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>

#include "dist/group/process_group.h"
#include "dist/parallel/checkpoint/pieces.h"

namespace dist {

struct ShardedCheckpointOptions {
  ProcessGroup group = {};  // the ranks that save or load together; default: the default group
};

// Saves the pieces of all ranks of the group. Collective. All ranks throw the same Error{resource} if one of
// them cannot write, or Error{mismatch} if ranks disagree about a tensor, if an element is missing, if boxes
// overlap or reach beyond their tensor, or if ranks have other values of the same box (beyond rounding; of
// buffers, the first rank's count); then the previous save is still in force. It is removed after the new
// one's index has been read back.
void save_sharded(const std::filesystem::path& folder, const Pieces& pieces,
                  const ShardedCheckpointOptions& options = {}, Caller at = Caller::here());

// The same in parallel with training: the pieces are copied at once, and written by a thread of their own.
class ShardedSave {
 public:
  // Collective; returns when the copies are made.
  ShardedSave(const std::filesystem::path& folder, const Pieces& pieces,
              const ShardedCheckpointOptions& options = {}, Caller at = Caller::here());
  ~ShardedSave();  // without finish() the save does not count
  ShardedSave(const ShardedSave&) = delete;
  ShardedSave& operator=(const ShardedSave&) = delete;
  // Waits for the files of all ranks and puts them in force. Collective; throws as save_sharded() does. A
  // second call does nothing.
  void finish();

 private:
  static void finish_before(const std::filesystem::path& folder, int rank);
  struct State;
  std::unique_ptr<State> state_;
};

// Whether a save is in force: not in a folder that does not exist, is empty, or whose first save was killed.
bool has_sharded(const std::filesystem::path& folder);
// Whether the save in force has a tensor of that name. Throws Error{invalid_argument} for a folder without a
// checkpoint.
bool has_sharded(const std::filesystem::path& folder, std::string_view tensor);

// All tensors of the checkpoint in force whose names `wanted` accepts, whole, on the CPU; does not
// communicate. Throws Error{invalid_argument} as load_sharded() does.
nn::StateDict load_whole(const std::filesystem::path& folder,
                         const std::function<bool(std::string_view name)>& wanted);

// Fills the pieces from the checkpoint that is in force. Every rank calls it, with the pieces of any mesh; it
// does not communicate. Throws Error{invalid_argument}, which names the tensor, if the checkpoint lacks
// elements of it or has another shape or dtype, and for a folder without a checkpoint; nothing has been
// filled then. For a file that cannot be read, too, with pieces half filled.
void load_sharded(const std::filesystem::path& folder, const Pieces& pieces, Caller at = Caller::here());
// The same as a collective: all ranks of the group succeed, or all throw the same Error, which names the rank
// that failed.
void load_sharded(const std::filesystem::path& folder, const Pieces& pieces,
                  const ShardedCheckpointOptions& options, Caller at = Caller::here());

}  // namespace dist
