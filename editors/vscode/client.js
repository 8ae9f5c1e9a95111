// The client: starts 'loomir lsp' for files of MLIR and LLVM IR.

const vscode = require('vscode')
const { LanguageClient } = require('vscode-languageclient/node')

let client

async function start() {
  const settings = vscode.workspace.getConfiguration('loomir.server')
  const server = { command: settings.get('path'), args: ['lsp', ...settings.get('arguments')] }
  const documents = { documentSelector: [{ language: 'mlir' }, { language: 'llvm' }] }
  client = new LanguageClient('loomir', 'Loomir', server, documents)
  try {
    await client.start()
  } catch (error) {
    const way = 'Install the command, or name it in the setting loomir.server.path.'
    vscode.window.showErrorMessage(`Loomir: '${server.command}' does not start: ${error.message}. ${way}`)
  }
}

async function stop() {
  await client?.stop()
  client = undefined
}

async function activate(context) {
  const restart = async () => {
    await stop()
    await start()
  }
  context.subscriptions.push(vscode.commands.registerCommand('loomir.restart', restart))
  await start()
}

module.exports = { activate, deactivate: stop }
