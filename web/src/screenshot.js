// The picture as a file, with what is needed to read it: names of panels, frame, legend.

/// Draws the scene anew and copies it, since a picture on the screen cannot be read later.
export function paintPicture(scene3d, legend, caption) {
  scene3d.draw();
  const source = scene3d.canvas;
  const ratio = source.width / scene3d.width;
  const picture = document.createElement("canvas");
  picture.width = source.width;
  picture.height = source.height;
  const context = picture.getContext("2d");
  const sky = context.createLinearGradient(0, 0, 0, picture.height);
  sky.addColorStop(0, "#2a303a");
  sky.addColorStop(1, "#15181d");
  context.fillStyle = sky;
  context.fillRect(0, 0, picture.width, picture.height);
  context.drawImage(source, 0, 0);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = "#eef1f5";
  context.font = "600 13px system-ui, sans-serif";
  context.textAlign = "center";
  scene3d.panels.forEach((panel, i) => {
    const box = scene3d.panelBox(i);
    if (panel.label) context.fillText(panel.label, box.x + box.width / 2, box.y + 24);
  });
  context.textAlign = "right";
  context.font = "12px system-ui, sans-serif";
  context.fillText(caption, scene3d.width - 16, scene3d.height - 14);
  legend.paint(context, 16, scene3d.height - 16);
  return picture;
}

/// Offers the picture as a download.
export async function saveScreenshot(scene3d, legend, caption, name) {
  const picture = paintPicture(scene3d, legend, caption);
  const blob = await new Promise((done) => {
    picture.toBlob(done, "image/png");
  });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
