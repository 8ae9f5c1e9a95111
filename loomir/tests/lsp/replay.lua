-- Replays a recording of edits in Neovim, which sends them to the server as it would a user's.
-- Prints what the user would see at each check.

local server, recording = os.getenv('LOOMIR_SERVER'), os.getenv('LOOMIR_RECORDING')
local shown = { version = -1, diagnostics = {} }

local client = vim.lsp.start_client({
  name = 'loomir',
  cmd = { server, 'lsp' },
  root_dir = vim.fn.getcwd(),
  handlers = {
    ['textDocument/publishDiagnostics'] = function(_, params) shown = params end,
  },
})

local function version()
  return vim.lsp.util.buf_versions[vim.api.nvim_get_current_buf()]
end

local function check()
  -- Neovim gathers changes for a moment before it sends them.
  local is_there = vim.wait(10000, function() return shown.version == version() end, 5)
  io.write('version ', is_there and 'shown' or 'missing', '\n')
  for _, own in ipairs(shown.diagnostics) do
    local start = own.range.start
    io.write(string.format('  %d:%d %s\n', start.line + 1, start.character + 1, own.message))
  end
end

local function ask(method, line, column)
  local params = {
    textDocument = vim.lsp.util.make_text_document_params(),
    position = { line = line, character = column },
  }
  local answers = vim.lsp.buf_request_sync(0, method, params, 10000)
  local answer = answers and answers[client] and answers[client].result
  return assert(answer, method .. ' has no answer')
end

vim.cmd('edit replayed.mlir')
vim.bo.fixendofline = false
vim.wait(10000, function()
  local own = vim.lsp.get_client_by_id(client)
  return own and own.initialized
end, 5)
vim.lsp.buf_attach_client(0, client)

local file = io.open(recording)
local edits = vim.json.decode(file:read('*a'))
file:close()
for _, edit in ipairs(edits) do
  if edit == 'check' then
    check()
  else
    local lines = vim.split(edit[5], '\n', { plain = true })
    vim.api.nvim_buf_set_text(0, edit[1], edit[2], edit[3], edit[4], lines)
  end
end
io.write(table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n'), '\n')
local start = ask('textDocument/definition', 3, 18).range.start
io.write(string.format('%%x is defined at %d:%d\n', start.line + 1, start.character + 1))
io.write(ask('textDocument/hover', 1, 5).contents.value, '\n')
vim.cmd('qa!')
